internal import PrefetchCaching
internal import PrefetchStorageAreas

/// Something that happens to an app's files as a whole.
package enum Loss: String, Sendable, Hashable, CaseIterable {
    /// The system deletes what it may, as it does where space is short and the app is not running.
    case purge
    /// The system removes the app, keeps its documents and data, and later installs it again.
    case offload
    /// The app's container is set up from a backup, on a new device or on an erased one.
    case restore
}

/// What becomes of a file in a ``Loss``.
package enum Fate: String, Sendable, Hashable, CaseIterable {
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
    /// What becomes of a file.
    ///
    /// - Parameter entry: What the manifest says of it.
    package func fate(of file: InventoryFile, in loss: Loss, _ entry: StorageManifest.Entry? = nil) -> Fate {
        switch loss {
        case .purge, .offload:
            if !file.isPurgeable { return .stays }
        case .restore:
            if file.area == .iCloudDrive { return .uploaded }
            if file.isBackedUp { return .stays }
        }
        switch file.kind {
        case .item, .partial, .journal: return .missed
        case .quarantined, .staged, .catalog, .lock, .tag: return .remade
        case .ledger, .configuration, .history: return .lost
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
