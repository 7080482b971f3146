internal import Foundation
internal import PrefetchCaching
internal import PrefetchFileSystem
internal import StorageInventory
internal import SystemPackage

/// The story of one file in plain sentences: what it is, how it came to be there, and what will become of it.
struct FileStory {
    let inventory: FileInventory
    let file: InventoryFile
    /// The entry that explains the file; `nil` if none does, or if there is no manifest.
    let entry: StorageManifest.Entry?
    let hasManifest: Bool
    /// How soon a cached item goes; `nil` if unknown.
    let outlook: EvictionOutlook?

    func print(to output: Output) throws {
        let parts = parts
        var table = TextTable([.left, .left])
        table.add(["path", inventory.path(of: file).displayText])
        for part in parts { table.add([part.name, part.sentences]) }
        try output.report(
            [
                "file": file.json(in: inventory), "outlook": outlook?.json,
                "story": parts.reduce([:] as JSONObject) { $0.adding([$1.name: $1.sentences]) },
                "entry": entry?.members.reduce([:] as JSONObject) { $0.adding([$1.name: $1.value]) },
            ], table.lines)
    }

    /// The parts of the story, each with its name.
    var parts: [(name: String, sentences: String)] {
        [
            ("what", what), ("from", from), ("wanted", wanted), ("backup", backup), ("space", space),
            ("offload", offload), ("restore", restore),
        ].map { ($0, $1.joined(separator: " ")) }
    }

    private var isOwn: Bool { file.kind.ownPurpose != nil }

    /// Whether the platform is one whose system purges caches and offloads apps. A container on another machine is from
    /// such a platform.
    private var isManagedBySystem: Bool {
        #if canImport(Darwin)
            true
        #else
            inventory.place.container != nil
        #endif
    }

    // MARK: What it is, and how it came to be there

    private var what: [String] {
        let key = file.facts.map { ", with the key '\($0.key)'" } ?? ""
        var sentences: [String] = []
        if let own = file.kind.ownPurpose {
            sentences.append("It is \(own.what)\(key): \(own.why).")
        } else {
            switch file.kind {
            case .promoted: sentences.append("It is the file of an opened item\(key).")
            case .link: sentences.append("It is a symbolic link.")
            case .special: sentences.append("It is a socket, a pipe or a device.")
            default:
                sentences.append(
                    "It is a file that the cache does not know: it did not create it, was told to forget it, or somebody has "
                        + "moved it here.")
            }
        }
        sentences.append("Its length is \(Size.exactText(file.length)).")
        if let entry {
            sentences.append("The manifest calls it: \(Self.sentence(entry.what))")
        } else if hasManifest, !isOwn {
            sentences.append("No entry of the manifest explains it.")
        }
        return sentences
    }

    private var from: [String] {
        let changed = "It was last changed at \(Timestamp.text(milliseconds: file.modified))."
        guard let facts = file.facts else {
            if isOwn { return [changed] }
            let origin = webOrigin.map { url in
                "An attribute says that it was downloaded from \(url.absoluteString)."
            }
            return [origin ?? "Nothing is recorded of where it came from.", changed]
        }
        let time = Timestamp.text(milliseconds: facts.since)
        let source = facts.source.flatMap { $0.isEmpty ? nil : "It came from \($0)." }
        switch inventory.ledgerEntry(of: file).map(\.origin) {
        case .adopted?:
            return [
                "It was there before the item was opened at \(time), and has the same content.", changed,
            ]
        case .written?:
            let provenance = inventory.ledgerEntry(of: file)?.provenance
            let stored = provenance.map { "It was stored at \(Timestamp.text(milliseconds: $0.storedAt))." }
            let sentences = [
                source, provenance?.url.map { "It was downloaded from \($0.absoluteString)." }, stored,
            ]
            .compactMap(\.self)
            return (sentences.isEmpty ? ["The ledger does not say where it came from."] : sentences)
                + ["It was opened at \(time).", changed]
        case nil: return [source ?? "No source was given.", "It was stored at \(time)."]
        }
    }

    private var wanted: [String] {
        var sentences: [String] = []
        if file.kind == .promoted {
            sentences.append("The user opened it.")
        } else if let isRequested = file.facts?.isUserRequested {
            sentences.append(
                isRequested ? "The user asked for it." : "The app expected that the user would want it.")
        }
        if let entry {
            let isOwn = entry.owner == StorageManifest.Entry.us
            sentences.append("\(isOwn ? "The app" : entry.owner) stores it: \(Self.sentence(entry.why))")
        }
        if sentences.isEmpty {
            sentences.append(isOwn ? "The cache needs it." : "Nothing says who wanted it.")
        }
        return sentences
    }

    /// The address that a file which the cache does not know says it was downloaded from.
    private var webOrigin: URL? {
        do {
            return try inventory.webOrigin(of: file, in: LiveFileSystem())
        } catch {
            StandardStreams.writeError(
                "cachectl: warning: \(inventory.path(of: file).displayText): its attributes cannot be read: \(error)"
            )
            return nil
        }
    }

    private static func sentence(_ text: String) -> String {
        text.last.map { ".!?".contains($0) } == true ? text : text + "."
    }

    // MARK: Whether it is backed up

    private var backup: [String] {
        let area = file.area?.title
        guard file.areMarksKnown else {
            return ["Whether it is backed up is unknown: its marks cannot be read."]
        }
        if file.area == .iCloudDrive { return ["It is uploaded to iCloud Drive, and in no other backup."] }
        let origins = inventory.exclusionOrigins(of: file)
        guard !origins.isEmpty else {
            return ["It is backed up: nothing excludes it."]
        }
        let reasons = origins.map { origin in
            switch origin.exclusion {
            case .area: return "the system never backs up \(area ?? "its area")"
            case .cacheTag: return "the folder \(Self.shown(origin.folder)) has a CACHEDIR.TAG"
            default:
                let mark = Self.mark(origin.exclusion)
                return origin.folder.map { "the folder \(Self.shown($0)) has \(mark)" }
                    ?? "it has \(mark) itself"
            }
        }
        return ["It is not backed up: \(reasons.joined(separator: ", and "))."]
    }

    private static func mark(_ exclusion: Exclusions) -> String {
        switch exclusion {
        case .noDump: "the no-dump flag"
        case .xdgAttribute: "the mark user.xdg.robots.backup"
        default: "the mark com_apple_backup_excludeItem"
        }
    }

    private static func shown(_ folder: FilePath?) -> String {
        folder.map { $0.isEmpty ? "of the area" : $0.displayText } ?? ""
    }

    // MARK: What will become of it

    private var space: [String] {
        let system =
            switch file.area?.promise.purge {
            case .whenSpaceIsLow? where isManagedBySystem:
                "The system may delete it when space runs short and the app is not running."
            case .periodically? where isManagedBySystem:
                "The system may delete it at any time when the app is not running."
            case .whenSpaceIsLow?, .periodically?: "Cleaning tools and users may delete it."
            default: "The system does not delete it."
            }
        let cache: String? =
            switch file.kind {
            case .item:
                "The cache deletes it when it needs the room, unless the app has it open or pinned. \(turn)"
            case .partial, .journal: "The cache deletes it before any complete item."
            case .quarantined: "The cache deletes it before any item."
            case .promoted where !file.isBackupIntended:
                "The cache does not delete it; the app has to, as with 'cachectl purge --excluded'."
            case .promoted: "The cache does not delete it: it is the user's."
            case .staged: "The cache deletes it only if no promotion needs it."
            case .catalog: "The cache rebuilds it."
            default: nil
            }
        return [system] + [cache].compactMap(\.self)
    }

    private var turn: String {
        outlook?.turn ?? "Items of lower priority go first, and then those that were not used for longer."
    }

    private var offload: [String] {
        guard isManagedBySystem else { return ["Nothing offloads apps here: it stays."] }
        switch file.area?.promise.purge ?? .never {
        case .never where file.area == .iCloudDrive: return ["It stays in iCloud Drive."]
        case .never: return ["It stays: offloading keeps an app's documents and data."]
        case .whenSpaceIsLow, .periodically:
            return ["It may go: offloading keeps documents and data, but not what the system may purge."]
        }
    }

    private var restore: [String] {
        switch inventory.fate(of: file, entry) {
        case .uploaded: ["It comes back from iCloud Drive."]
        case .stays: ["It comes back from the backup."]
        case .missed where file.kind == .item:
            ["It is gone: to the app it is a miss, and is downloaded again."]
        case .missed: ["It is gone: the download begins anew."]
        case .remade:
            switch file.kind {
            case .quarantined, .lock, .tag: ["It is gone, and not missed."]
            case .staged: ["It is gone: the item is opened anew."]
            case .catalog: ["It is gone, and is built anew."]
            default: ["It is gone, and is made again from other data."]
            }
        case .rehydrated: [Self.lostButRecorded, "'cachectl fetch --missing' does that."]
        case .downloaded where file.kind == .promoted: [Self.lostButRecorded]
        case .downloaded: ["It is gone, and has to be downloaded again."]
        case .unknown: ["It is gone: whoever stored it has to do so again."]
        case .lost where entry?.regenerable == .no:
            ["It is lost: the manifest says that it cannot be had again."]
        case .lost: ["It is lost: it cannot be had again."]
        }
    }

    private static let lostButRecorded =
        "It is gone, and has to be downloaded again: its record comes back, the file does not."
}
