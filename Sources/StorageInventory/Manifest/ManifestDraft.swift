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
        // What an entry says follows from the files that it explains in the end: another pattern may be more specific.
        let bare = StorageManifest(
            app: app,
            entries: inventory.draftPatterns.map {
                Entry(pattern: $0, what: "", why: "", area: nil, backup: .system, regenerable: .no)
            })
        var rules: [Int: Set<String>] = [:]
        for finding in findings {
            for file in finding.members { rules[file, default: []].insert(finding.rule.name) }
        }
        self.init(
            app: app,
            entries: bare.files(by: bare.numbers(for: inventory)).map { entry, files in
                var entry = Entry(draft: entry.pattern, for: files.map { inventory.files[$0] })
                let reported = files.reduce(into: Set<String>()) { $0.formUnion(rules[$1] ?? []) }.sorted()
                if !reported.isEmpty { entry.what += "; a check reports \(reported.joined(separator: ", "))" }
                return entry
            })
    }
}

extension StorageManifest.Entry {
    fileprivate init(draft pattern: PathPattern, for files: [InventoryFile]) {
        let area = files.first?.area
        let isExcluded = files.allSatisfy { !$0.isBackedUp }
        let isDecidedByMarks = (area?.promise.backup ?? .backedUp) == .backedUp
        let regenerable: StorageManifest.Regenerable =
            switch area {
            case .caches: .download
            case .temporary: .derive
            default: isExcluded || files.allSatisfy({ !$0.isBackupIntended }) ? .download : .no
            }
        self.init(
            pattern: pattern, what: "\(Self.toDo): \(Self.description(of: files))",
            why: "\(Self.toDo): who needs it, and what is lost without it?", area: area,
            backup: !isDecidedByMarks
                ? .system : isExcluded ? .exclude : files.allSatisfy(\.isBackedUp) ? .include : .system,
            regenerable: regenerable)
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
}

extension InventoryFile {
    /// The extension of the name, if it looks like the type of a file.
    fileprivate var type: String? {
        name.extension.flatMap { $0.wholeMatch(of: /[A-Za-z0-9_-]{1,12}/) == nil ? nil : $0 }
    }
}

/// Files that a draft explains together.
private struct DraftGroup: Hashable {
    /// The folder directly below an area, or the root of the area.
    let unit: Int
    let type: String?
}

extension FileInventory {
    /// The patterns of a draft, in the order of their texts.
    fileprivate var draftPatterns: [PathPattern] {
        var groups: [DraftGroup: [InventoryFile]] = [:]
        let units = draftUnits
        for file in files where file.kind.ownPurpose == nil {
            groups[DraftGroup(unit: units[file.folder], type: file.type), default: []].append(file)
        }
        var texts: Set<String> = []
        var single: [Int: [InventoryFile]] = [:]
        for (group, files) in groups {
            if files.count == 1, !files[0].isVisible {
                single[group.unit, default: []].append(files[0])
            } else {
                // Users name their documents as they like: the next one has another name.
                texts.insert(pattern(for: files, ending: group.type.map { "*.\($0)" } ?? "*"))
            }
        }
        for files in single.values {
            // More files on their own than this are explained together.
            texts.formUnion(
                files.count > 8
                    ? [pattern(for: files, ending: "*")] : files.map { PathPattern.text(for: path(of: $0)) })
        }
        return texts.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }.compactMap { text in
            do {
                return try PathPattern(text)
            } catch {
                preconditionFailure("a path without '*' is a pattern, also with a wildcard added: \(error)")
            }
        }
    }

    /// The pattern of files that lie in one folder or in several.
    private func pattern(for files: [InventoryFile], ending: String) -> String {
        let folders = Set(files.map(\.folder))
        let path = PathPattern.text(for: commonFolder(of: folders).map(path(ofFolder:)) ?? "")
        return (path.isEmpty ? "" : path + "/") + (folders.count == 1 ? "" : "**/") + ending
    }

    /// For each folder, the one directly below an area that it is or lies in; outside the areas, one below `Library`.
    private var draftUnits: [Int] {
        folders.indices.map { number in
            let lineage = lineage(ofFolder: number)
            let root = lineage.lastIndex(where: isRootOfArea) ?? 0
            return lineage[min(root + (folders[number].area == nil ? 2 : 1), lineage.count - 1)]
        }
    }
}
