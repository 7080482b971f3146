internal import PrefetchCaching
internal import StorageInventory

/// What a container or the areas of an app hold, for a report: by area and purpose, what is backed up, and what is wrong.
struct ContainerContents {
    /// The files of one area with one purpose.
    struct Group: Hashable {
        let area: Area?
        let purpose: String
        /// Whether the purpose is text from a manifest.
        let isForeign: Bool
        var files = 0
        var bytes: Int64 = 0
        var backedUpBytes: Int64 = 0

        var areaTitle: String { area?.title ?? "elsewhere" }
    }

    /// The largest first.
    let groups: [Group]
    let findings: [Finding]
    /// The number of files and folders that could not be read.
    let problems: Int

    var bytes: Int64 { groups.reduce(0) { $0 + $1.bytes } }
    var backedUpBytes: Int64 { groups.reduce(0) { $0 + $1.backedUpBytes } }
}

extension ContainerContents {
    init(
        of inventory: FileInventory, _ findings: [Finding], problems: Int,
        explainedBy manifest: StorageManifest?
    ) {
        self.findings = findings
        self.problems = problems
        // By what is the same for all of a group's files.
        var groups: [Group: Group] = [:]
        for file in inventory.files {
            let entry =
                file.kind.ownPurpose == nil ? manifest?.entry(for: inventory.path(of: file)) : nil
            let key = Group(
                area: file.area, purpose: entry?.what ?? Self.purpose(of: file.kind), isForeign: entry != nil)
            var group = groups[key] ?? key
            group.files += 1
            group.bytes += file.countedLength
            if file.isBackedUp { group.backedUpBytes += file.countedLength }
            groups[key] = group
        }
        self.groups = groups.values.sorted {
            ($0.bytes, $1.areaTitle, $1.purpose) > ($1.bytes, $0.areaTitle, $0.purpose)
        }
    }

    private static func purpose(of kind: FileKind) -> String {
        switch kind {
        case .item: "cached items"
        case .partial, .journal: "interrupted items"
        case .quarantined: "damaged items"
        case .promoted, .staged: "opened items"
        case .catalog, .ledger, .configuration, .history, .lock, .tag: "the cache’s own records"
        case .foreign, .link, .special: "other files"
        }
    }
}
