internal import PrefetchCaching
internal import PrefetchFileSystem
internal import PrefetchStorageAreas

/// Whether a file can be had again if it is lost, with the evidence for it: the end of a sentence about the file.
///
/// A mark that excludes a file from backups is right on what can be downloaded again, in any folder, and wrong on what
/// cannot.
package enum Recoverability: Sendable, Hashable {
    case recoverable(String)
    case irreplaceable(String)
    case unknown

    /// What the type of a file says where the file is.
    init(of type: FileType?, in area: Area?) {
        let isVisible = area?.promise.isVisibleToUser ?? false
        let isPurgeable = area.map { $0.promise.purge != .never } ?? false
        self =
            switch type {
            case .ownDocument?: .irreplaceable("files of this type are usually created by users")
            // In Caches, a book or a magazine is rather one that the app has downloaded.
            case .importedDocument? where !isPurgeable:
                .irreplaceable("files of this type are usually imported by users")
            case .text? where isVisible: .irreplaceable("it is among the user's documents")
            default: .unknown
            }
    }
}

extension Checkup {
    /// The best evidence on a file: what the manifest says, what the ledger says, what it is to the cache, the address that it was downloaded
    /// from, and at last its type. Opens a file that the ledger and the cache do not know.
    mutating func recoverability(of index: Int32) -> Recoverability {
        let recorded = recordedRecoverability(of: index)
        if recorded != .unknown { return recorded }
        if hasAddress(index) { return .recoverable("it carries the address it was downloaded from") }
        return recoverabilityByType(of: index)
    }

    /// The evidence that a file cannot be had again; `nil` if it can, or if nothing is known. Opens a file only if its
    /// type says so.
    mutating func irreplaceability(of index: Int32) -> String? {
        guard isPerhapsIrreplaceable(index), case .irreplaceable(let evidence) = recoverability(of: index)
        else {
            return nil
        }
        return evidence
    }

    /// Reports those of some files that cannot be had again, and a document that is a folder as one.
    mutating func reportIrreplaceable(among files: [Int32]) {
        var byEvidence: [String: [Int32]] = [:]
        for index in files {
            if let evidence = irreplaceability(of: index) { byEvidence[evidence, default: []].append(index) }
        }
        for (evidence, indices) in byEvidence.sorted(by: { $0.key < $1.key }) {
            report(indices, byFolder: packages, evidence)
        }
    }

    private func isPerhapsIrreplaceable(_ index: Int32) -> Bool {
        for recoverability in [recordedRecoverability(of: index), recoverabilityByType(of: index)] {
            if case .irreplaceable = recoverability { return true }
        }
        return false
    }

    private func recoverabilityByType(of index: Int32) -> Recoverability {
        Recoverability(of: type(of: index), in: file(index).area)
    }

    private func recordedRecoverability(of index: Int32) -> Recoverability {
        if let entry = entry(of: index) {
            return switch entry.regenerable {
            case .download: .recoverable("the manifest says that it can be downloaded again")
            case .derive: .recoverable("the manifest says that it can be made again")
            case .no: .irreplaceable("the manifest says that it cannot be had again")
            }
        }
        let file = file(index)
        switch file.kind {
        case .item, .partial, .journal, .quarantined, .catalog: return .recoverable("it is in the cache")
        case .ledger, .configuration, .history: return .irreplaceable("the cache keeps it for good")
        case .promoted:
            guard let number = file.facts?.ledgerEntry, let entry = inventory.ledger?.entries[Int(number)]
            else { return .unknown }
            switch entry.origin {
            case .written:
                return isChanged(index, since: entry)
                    ? .irreplaceable("it was changed after it was opened")
                    : .recoverable("it was downloaded through the cache")
            case .adopted: return .irreplaceable("it was there before the cache had an item like it")
            case .unknown: return .unknown
            }
        default: return .unknown
        }
    }

    /// Whether a document is no longer what was downloaded.
    private func isChanged(_ index: Int32, since entry: LedgerEntry) -> Bool {
        let file = file(index)
        guard let type = type(of: index), type.isDocument || type == .text && file.isVisible else {
            return false
        }
        return file.length != entry.contentBytes || file.modified - Self.patience > entry.openedAt
    }

    private mutating func hasAddress(_ index: Int32) -> Bool {
        guard file(index).kind != .link, file(index).kind != .special else { return false }
        let fileSystem = fileSystem
        return look(at: index) { file in try WebOrigin(of: file, in: fileSystem) != nil } ?? false
    }
}
