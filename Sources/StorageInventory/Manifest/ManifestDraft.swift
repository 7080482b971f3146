internal import PrefetchCaching
internal import PrefetchFileSystem
internal import PrefetchStorageAreas
internal import SystemPackage

extension StorageManifest {
    /// A first version of a manifest, made of what there is: a check with it finds every file explained and in its place.
    /// What the files are and why they are stored remains to be written.
    ///
    /// Files are put together by type, in each folder directly below an area or, if they are all in one folder, in that.
    /// The same files give the same draft.
    ///
    /// - Parameter app: The identifier of the app, if known.
    /// - Parameter findings: What a check without a manifest reports: the entries of these files say so, since the draft
    ///   takes for granted that everything is where it belongs.
    /// - Complexity: O(*nm*) in the numbers of files and entries.
    package init(draftOf inventory: FileInventory, app: String?, findings: [Finding] = []) {
        let patterns = DraftPatterns(of: inventory).patterns
        // What an entry says follows from the files that it explains in the end: another pattern may be more specific.
        let bare = StorageManifest(
            app: app,
            entries: patterns.map {
                Entry(pattern: $0, what: "", why: "", area: nil, backup: .system, regenerable: .no)
            })
        let explained = Purposes(of: inventory, by: bare).files { _ in true }
        var rules: [Int: Set<String>] = [:]
        for finding in findings {
            for file in finding.members { rules[file, default: []].insert(finding.rule.name) }
        }
        self.init(
            app: app,
            entries: explained.map { entry, files in
                var entry = Entry(draft: entry.pattern, for: files.map { inventory.files[$0] }, app: app)
                let reported = files.reduce(into: Set<String>()) { $0.formUnion(rules[$1] ?? []) }.sorted()
                if !reported.isEmpty { entry.what += "; a check reports \(reported.joined(separator: ", "))" }
                return entry
            })
    }
}

extension StorageManifest.Entry {
    fileprivate init(draft pattern: PathPattern, for files: [InventoryFile], app: String?) {
        let area = files.first?.area
        let isIncluded = files.allSatisfy(\.isBackedUp)
        let isExcluded = files.allSatisfy { !$0.isBackedUp }
        let backup: StorageManifest.Backup =
            switch area?.promise.backup ?? .backedUp {
            case .backedUp where isIncluded: .include
            case .backedUp where isExcluded: .exclude
            case .backedUp, .notBackedUp, .uploaded: .system
            }
        let regenerable: StorageManifest.Regenerable =
            switch area {
            case .caches: .download
            case .temporary: .derive
            default: isExcluded || files.allSatisfy({ !$0.isBackupIntended }) ? .download : .no
            }
        self.init(
            pattern: pattern, what: "\(Self.toDo): \(Self.description(of: files))",
            why: "\(Self.toDo): who needs it, and what is lost without it?", area: area, backup: backup,
            regenerable: regenerable)
        owner = Self.owner(pattern, app)
    }

    /// What is known: `12 opened items of type mp3, from feeds.example.org`.
    private static func description(of files: [InventoryFile]) -> String {
        let isOpened = files.allSatisfy { $0.kind == .promoted }
        let isLink = files.allSatisfy { $0.kind == .link }
        let noun = isOpened ? "opened item" : isLink ? "symbolic link" : "file"
        let types = Set(files.map(\.type))
        let type = types.count == 1 ? types.first.flatMap(\.self).map { " of type \($0)" } ?? "" : ""
        let sources = Set(files.compactMap { $0.facts?.source }.filter { !$0.isEmpty }).sorted()
        let origin = sources.isEmpty ? "" : ", from \(sources.prefix(3).joined(separator: ", "))"
        return "\(files.count) \(noun)\(files.count == 1 ? "" : "s")\(type)\(origin)"
    }

    /// A library that names its folder by its identifier owns what is in it.
    private static func owner(_ pattern: PathPattern, _ app: String?) -> String {
        let folders = pattern.text.split(separator: "/").dropLast()
        let identifier = folders.first { $0.wholeMatch(of: /[a-z]{2,6}(?:\.[A-Za-z0-9_-]+){2,}/) != nil }
        return identifier.map(String.init).flatMap { $0 == app ? nil : $0 } ?? us
    }
}

extension InventoryFile {
    /// The extension of the name, if it looks like the type of a file.
    fileprivate var type: String? {
        name.extension.flatMap { $0.wholeMatch(of: /[A-Za-z0-9_-]{1,12}/) == nil ? nil : $0 }
    }
}

/// The patterns of a draft.
private struct DraftPatterns {
    private struct Group: Hashable {
        /// The folder directly below an area, or the root of the area.
        let unit: Int
        let type: String?
    }

    /// More files on their own than this, and they are explained together.
    private static let singles = 8

    private let inventory: FileInventory
    private var texts: Set<String> = []

    /// In the order of their texts.
    var patterns: [PathPattern] {
        texts.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }.compactMap { text in
            do {
                return try PathPattern(text)
            } catch {
                preconditionFailure("a path without '*' is a pattern, also with a wildcard added: \(error)")
            }
        }
    }

    init(of inventory: FileInventory) {
        self.inventory = inventory
        let units = Self.units(of: inventory)
        var groups: [Group: [Int]] = [:]
        for (index, file) in inventory.files.enumerated() where file.kind.ownPurpose == nil {
            groups[Group(unit: units[file.folder], type: file.type), default: []].append(index)
        }
        var single: [Int: [Int]] = [:]
        for (group, files) in groups {
            if files.count == 1, !inventory.files[files[0]].isVisible {
                single[group.unit, default: []].append(files[0])
            } else {
                // Users name their documents as they like: the next one has another name.
                add(files, ending: group.type.map { "*.\($0)" } ?? "*")
            }
        }
        for files in single.values {
            if files.count > Self.singles {
                add(files, ending: "*")
            } else {
                for file in files {
                    texts.insert(
                        PathPattern.text(for: inventory.path(of: inventory.files[file])))
                }
            }
        }
    }

    /// Adds the pattern of files that lie in one folder or in several.
    private mutating func add(_ files: [Int], ending: String) {
        let folders = Set(files.map { inventory.files[$0].folder })
        guard let folder = inventory.commonFolder(of: folders) else { return }
        let path = PathPattern.text(for: inventory.path(ofFolder: folder))
        texts.insert((path.isEmpty ? "" : path + "/") + (folders.count == 1 ? "" : "**/") + ending)
    }

    /// For each folder, the one directly below an area that it is or lies in; outside the areas, one below `Library`.
    private static func units(of inventory: FileInventory) -> [Int] {
        var units: [Int] = []
        var depths: [Int] = []
        for (number, folder) in inventory.folders.enumerated() {
            let number = number
            let depth = inventory.isRootOfArea(number) ? 0 : folder.parent.map { depths[$0] + 1 } ?? 0
            depths.append(depth)
            let isUnit = depth <= (folder.area == nil ? 2 : 1)
            units.append(isUnit ? number : folder.parent.map { units[$0] } ?? number)
        }
        return units
    }
}
