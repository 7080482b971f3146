package import PrefetchCaching
package import PrefetchStorageAreas
package import SystemPackage

/// What an app stores, where and why, as its developers say: a `storage.json`.
///
/// Paths are those in a container, also for an app whose areas are apart from each other, as on Linux.
package struct StorageManifest: Sendable {
    /// The version of the format.
    package static let version = 1

    /// One answer to: what are these files, and why are they stored?
    package struct Entry: Sendable {
        package let pattern: PathPattern
        package var what: String
        package let why: String
        /// Where the files belong; `nil` for a place outside all areas.
        package let area: Area?
        package let backup: Backup
        package var owner = Entry.us
        package let regenerable: Regenerable
        /// How much space the files may take together.
        package var limit: Written<ByteCount>?
        /// How long the files may stay unused.
        package var unusedFor: Written<Lifetime>?

        /// The owner of files that no third party wrote.
        package static let us = "us"

        /// What a purpose begins with that is still to be written, as in a draft.
        static let toDo = "TODO"
    }

    /// A quantity with the text that it was written as.
    package struct Written<Value: Sendable>: Sendable {
        package let text: String
        package let value: Value
    }

    /// Whether backups contain the files. The raw values are those of the file format.
    package enum Backup: String, Sendable, Hashable, CaseIterable {
        /// They must.
        case include
        /// They must not.
        case exclude
        /// The area decides, and marks are not judged.
        case system
    }

    /// Whether the files can be had again. The raw values are those of the file format, which writes `no` as `false`.
    package enum Regenerable: String, Sendable, Hashable, CaseIterable {
        case download, derive
        case no = "false"
    }

    /// The identifier of the app.
    package let app: String?
    /// In the order of the file.
    package let entries: [Entry]
    /// The indices of the entries, the most specific first.
    private let order: [Int]

    init(app: String?, entries: [Entry]) {
        self.app = app
        self.entries = entries
        order = entries.indices.sorted { left, right in
            if entries[left].pattern.isMoreSpecific(than: entries[right].pattern) { return true }
            return !entries[right].pattern.isMoreSpecific(than: entries[left].pattern) && left < right
        }
    }

    /// The entry that explains a file: of those that match, the most specific; see
    /// ``PathPattern/isMoreSpecific(than:)``. Of two that are alike in this, the one that stands first.
    ///
    /// - Parameter path: As a container has it; see ``FileInventory/path(of:)``.
    /// - Complexity: O(*n*) in the number of entries.
    package func entry(for path: FilePath) -> Entry? { number(for: path).map { entries[$0] } }

    private func number(for path: FilePath) -> Int? {
        let path = path.string
        return order.first { entries[$0].pattern.matches(path) }
    }

    /// The number of the entry that explains each file of an inventory. What the cache keeps for itself needs none, see
    /// ``FileKind/ownPurpose``.
    ///
    /// - Complexity: O(*nm*) in the numbers of files and entries.
    func numbers(for inventory: FileInventory) -> [Int?] {
        inventory.files.map { $0.kind.ownPurpose == nil ? number(for: inventory.path(of: $0)) : nil }
    }

    /// The files that each entry explains, without entries that explain none.
    ///
    /// - Parameter numbers: See ``numbers(for:)``.
    func files(by numbers: [Int?]) -> [(entry: Entry, files: [Int])] {
        var files = entries.map { _ in [Int]() }
        for (file, number) in numbers.enumerated() {
            if let number { files[number].append(file) }
        }
        return zip(entries, files).filter { !$1.isEmpty }.map { ($0, $1) }
    }
}

/// The names in an object of the file.
protocol ManifestName: RawRepresentable<String>, CaseIterable {
    /// What is to be written.
    var meaning: String { get }
}

extension StorageManifest {
    enum Member: String, ManifestName {
        case schema = "$schema"
        case version, app, entries

        var meaning: String {
            switch self {
            case .schema: "the address of the schema"
            case .version: "the version of the format, \(StorageManifest.version)"
            case .app: "the identifier of the app"
            case .entries: "a list of what the app stores"
            }
        }
    }

    /// The names in an entry.
    enum Key: String, ManifestName {
        case path, what, why, area, backup, regenerable, owner, limit, unusedFor

        var isRequired: Bool { self != .owner && self != .limit && self != .unusedFor }

        var meaning: String {
            switch self {
            case .path: "the pattern of the files' paths, such as \"Documents/**/*.pdf\""
            case .what: "what the files are"
            case .why: "why they are stored, and what is lost without them"
            case .area: "where they belong: \(StorageManifest.areaNames.alternatives)"
            case .backup: "whether backups contain them: \(Backup.allCases.map(\.rawValue).alternatives)"
            case .regenerable: "how they can be had again: \"download\", \"derive\" or, if they cannot, false"
            case .owner: "who writes them: \"us\", which is the default, or the identifier of a library"
            case .limit: "how much they may take together, such as \"200 MB\""
            case .unusedFor: "how long they may stay unused, such as \"30d\""
            }
        }
    }

    /// The names of the areas in the file; `other` is for what lies outside all of them.
    static let areaNames = Area.allCases.map(\.name) + [otherArea]
    static let otherArea = "other"
}

extension Area? {
    /// The name in a manifest and in output.
    package var manifestName: String { self?.name ?? StorageManifest.otherArea }
}

extension [String] {
    /// `a, b or c`
    var alternatives: String {
        guard let last, count > 1 else { return first ?? "" }
        return dropLast().joined(separator: ", ") + " or " + last
    }
}

extension FileKind {
    /// What the files are that the cache keeps for itself, and why; no manifest needs to explain them. `nil` for all
    /// others.
    package var ownPurpose: (what: String, why: String)? {
        switch self {
        case .item: ("a cached item", "the app stored it ahead, so that it is there when the user wants it")
        case .partial: ("a part of an item", "its download is under way, or can be continued")
        case .journal: ("the journal beside a part of an item", "it says what the part holds")
        case .quarantined: ("a damaged item", "the cache set it aside, so that it is never served")
        case .staged: ("an opened item on its way", "it becomes the user's file when it is complete")
        case .catalog: ("the cache's index", "it says what was used when; it is rebuilt if it is lost")
        case .record:
            ("the cache's record", "it says which items were opened, and what prefetching was worth")
        case .configuration: ("the cache's settings", "the app and cachectl agree on its limits by them")
        case .lock: ("a lock file", "processes that use the cache agree by it")
        case .tag: ("a cache directory tag", "it tells backup programs to leave the folder out")
        case .promoted, .foreign, .link, .special: nil
        }
    }
}
