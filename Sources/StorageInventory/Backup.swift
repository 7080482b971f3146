internal import PrefetchCaching
internal import PrefetchStorageAreas
package import SystemPackage

extension FileInventory {
    /// Each reason why backups exclude a file, with the path of the outermost folder that has the mark or the tag. No path
    /// means that the file itself has it, or that the area decides.
    package func exclusionOrigins(of file: InventoryFile) -> [(exclusion: Exclusions, folder: FilePath?)] {
        let lineage = lineage(ofFolder: file.folder)
        return Exclusions.named.map(\.member).filter { file.exclusions.contains($0) }.map { member in
            guard member != .area else { return (member, nil) }
            let folder = lineage.first { folders[$0].exclusions.contains(member) }
            return (member, folder.map(path(ofFolder:)))
        }
    }
}

/// What becomes of a file when the app's container is set up from a backup, on a new device or on an erased one.
package enum Fate: Sendable, Hashable {
    /// It is there afterwards.
    case stays
    /// It comes back from iCloud Drive.
    case uploaded
    /// It is a cached item, or part of one: a miss, and downloaded again when it is wanted.
    case missed
    /// `cachectl fetch --missing` downloads it to where it was: its URL is recorded.
    case rehydrated
    /// The app has to download it again.
    case downloaded
    /// It is made again from other data, or nobody needs it.
    case remade
    /// Nothing says whether it can be had again.
    case unknown
    /// It cannot be had again.
    case lost
}

extension FileInventory {
    /// What becomes of a file in a restore.
    ///
    /// - Parameter entry: What the manifest says of it.
    package func fate(of file: InventoryFile, _ entry: StorageManifest.Entry? = nil) -> Fate {
        if file.area == .iCloudDrive { return .uploaded }
        if file.isBackedUp { return .stays }
        switch file.kind {
        case .item, .partial, .journal: return .missed
        case .quarantined, .staged, .catalog, .lock, .tag: return .remade
        case .record, .configuration: return .lost
        case .promoted, .foreign, .link, .special: break
        }
        let recorded = ledgerEntry(of: file)
        if let recorded, recorded.origin != .adopted, recorded.isExcluded, recorded.provenance?.url != nil {
            return .rehydrated
        }
        switch entry?.regenerable {
        case .download?: return .downloaded
        case .derive?: return .remade
        case .no?: return .lost
        // What was adopted was the user's before.
        case nil: return recorded.map { $0.origin == .adopted ? .lost : .downloaded } ?? .unknown
        }
    }
}
