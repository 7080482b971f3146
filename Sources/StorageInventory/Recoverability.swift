package import Foundation
internal import PrefetchCaching
package import PrefetchFileSystem
internal import PrefetchStorageAreas

/// Whether a file can be had again if it is lost, with the evidence for it: the end of a sentence about the file.
///
/// A mark that excludes a file from backups is right on what can be downloaded again, in any folder, and wrong on what
/// cannot.
enum Recoverability: Hashable {
    case recoverable(String)
    case irreplaceable(String)
    case unknown
}

extension Checkup {
    /// The best evidence on a file: what the manifest says, what the ledger says, what it is to the cache, the address
    /// that it was downloaded from, and at last its type. Opens a file that the ledger and the cache do not know.
    mutating func recoverability(of index: Int) -> Recoverability {
        let recorded = recordedRecoverability(of: index)
        if recorded != .unknown { return recorded }
        if hasAddress(index) { return .recoverable("it carries the address it was downloaded from") }
        return recoverabilityByType(of: index)
    }

    /// The evidence that a file cannot be had again; `nil` if it can, or if nothing is known. Opens a file only if its
    /// type says so.
    mutating func irreplaceability(of index: Int) -> String? {
        let recorded = recordedRecoverability(of: index)
        let known = recorded == .unknown ? recoverabilityByType(of: index) : recorded
        guard case .irreplaceable(let evidence) = known else { return nil }
        return recorded == .unknown && hasAddress(index) ? nil : evidence
    }

    /// Reports those of some files that cannot be had again, and a document that is a folder as one.
    mutating func reportIrreplaceable(among files: [Int]) {
        var byEvidence: [String: [Int]] = [:]
        for index in files {
            if let evidence = irreplaceability(of: index) { byEvidence[evidence, default: []].append(index) }
        }
        for (evidence, indices) in byEvidence.sorted(by: { $0.key < $1.key }) {
            report(indices, byFolder: packages, evidence)
        }
    }

    private func recoverabilityByType(of index: Int) -> Recoverability {
        switch type(of: index) {
        case .ownDocument?: .irreplaceable("files of this type are usually created by users")
        // In Caches, a book or a magazine is rather one that the app has downloaded.
        case .importedDocument? where !file(index).isPurgeable:
            .irreplaceable("files of this type are usually imported by users")
        case .text? where file(index).isVisible: .irreplaceable("it is among the user's documents")
        default: .unknown
        }
    }

    private mutating func recordedRecoverability(of index: Int) -> Recoverability {
        switch entry(of: index)?.regenerable {
        case .download?: return .recoverable("the manifest says that it can be downloaded again")
        case .derive?: return .recoverable("the manifest says that it can be made again")
        case .no?: return .irreplaceable("the manifest says that it cannot be had again")
        case nil: break
        }
        let file = file(index)
        switch file.kind {
        case .item, .partial, .journal, .quarantined, .catalog: return .recoverable("it is in the cache")
        case .record, .configuration: return .irreplaceable("the cache keeps it for good")
        default: break
        }
        // Only what was promoted has an entry in the ledger.
        guard let entry = inventory.ledgerEntry(of: file) else { return .unknown }
        switch entry.origin {
        case .written:
            return isChanged(index, since: entry)
                ? .irreplaceable("it was changed after it was opened")
                : .recoverable("it was downloaded through the cache")
        case .adopted: return .irreplaceable("it was there before the cache had an item like it")
        }
    }

    /// Whether a document is no longer what was downloaded.
    private mutating func isChanged(_ index: Int, since entry: LedgerEntry) -> Bool {
        let file = file(index)
        guard let type = type(of: index), type.isDocument || type == .text && file.isVisible else {
            return false
        }
        if file.length != file.facts?.contentBytes { return true }
        // A copy of a container may have times of its own.
        return file.modified - Self.patience > entry.openedAt && verdict(on: index) == .changed
    }

    private mutating func hasAddress(_ index: Int) -> Bool {
        guard file(index).kind != .link, file(index).kind != .special else { return false }
        return look(at: index) { try WebOrigin.url(of: $0, in: $1) != nil } ?? false
    }
}

extension FileInventory {
    /// The address on the web that an attribute of a file says it was downloaded from, without what may be a secret.
    package func webOrigin(of file: InventoryFile, in fileSystem: any FileSystem) throws -> URL? {
        guard file.kind != .link, file.kind != .special else { return nil }
        var reader = FileReader(fileSystem)
        return try reader.withFile(file, of: self, WebOrigin.url) ?? nil
    }
}

/// The address on the web that a file was downloaded from, as browsers and downloaders leave it in an attribute.
private enum WebOrigin {
    /// Without user, password, query and fragment, any of which may hold a secret; `nil` if no attribute of the file has
    /// an address.
    static func url(of file: Descriptor, in fileSystem: any FileSystem) throws -> URL? {
        let mark = BackupMark(fileSystem: fileSystem)
        for name in attributes {
            guard let value = try mark.attribute(name, of: file) else { continue }
            if let url = texts(in: value).lazy.compactMap(url).first { return url }
        }
        return nil
    }

    /// That of freedesktop.org, and Apple's, which has another name where a copy of a container was made on Linux.
    #if canImport(Darwin)
        private static let attributes = ["user.xdg.origin.url", "com.apple.metadata:kMDItemWhereFroms"]
    #else
        private static let attributes = ["user.xdg.origin.url", "user.com.apple.metadata:kMDItemWhereFroms"]
    #endif

    /// A value is a text, or a property list with an array of them.
    private static func texts(in value: [UInt8]) -> [String] {
        guard value.starts(with: "bplist".utf8) else { return [String(decoding: value, as: UTF8.self)] }
        do {
            let list = try PropertyListSerialization.propertyList(from: Data(value), format: nil)
            return list as? [String] ?? []
        } catch {
            // Whatever wrote it, it says nothing about the file.
            return []
        }
    }

    private static func url(_ text: String) -> URL? {
        guard var parts = URLComponents(string: text.trimmingCharacters(in: ["\0"])),
            ["http", "https"].contains(parts.scheme?.lowercased()), parts.host?.isEmpty == false
        else { return nil }
        parts.user = nil
        parts.password = nil
        parts.query = nil
        parts.fragment = nil
        return parts.url
    }
}
