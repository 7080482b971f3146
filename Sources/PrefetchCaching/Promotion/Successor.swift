internal import Foundation
internal import PrefetchItemFormat
internal import PrefetchStorageAreas
internal import SystemPackage

/// A newer version of a promoted file, complete and durable in staging: what the ledger has to know of it until it has taken
/// the place of the older one.
struct Successor: Sendable, Hashable, Codable {
    let contentBytes: Int64
    let contentChecksum: UInt64
    /// The name in staging that it has before it takes the place, and the older version afterwards.
    let stagedName: String
    let inode: UInt64
    let birthTime: Int64?
    let openedAt: Int64
    private let backup: UInt8
    private let parts: [UInt8]
    private let storedAt: Int64?
    private let source: String
    private let intent: UInt8
    private let entityTag: String?
    private let lastModified: String?
    private let url: URL?
    private let attributes: [UInt8]

    /// - Parameter entry: The intent of the newer version.
    init(_ entry: LedgerEntry) {
        contentBytes = entry.contentBytes
        contentChecksum = entry.contentChecksum
        stagedName = entry.stagedName
        inode = entry.inode
        birthTime = entry.birthTime
        openedAt = entry.openedAt
        backup = entry.backup.rawValue
        parts = entry.parts.encoded()
        storedAt = entry.provenance?.storedAt
        source = entry.provenance?.source ?? ""
        intent = (entry.provenance?.intent ?? .opportunistic).rawValue
        entityTag = entry.provenance?.validator.entityTag
        lastModified = entry.provenance?.validator.lastModified
        url = entry.provenance?.url
        attributes = entry.provenance?.attributes ?? []
    }

    /// - Returns: `nil` for anything that this code could not have written: the staged file is removed by its name.
    init?(_ data: Data, of key: ItemKey) {
        do {
            self = try JSONDecoder().decode(Successor.self, from: data)
        } catch {
            return nil
        }
        guard let component = FilePath.Component(stagedName),
            CacheLayout.hash(ofStaged: component) == key.hash,
            contentBytes >= 0, BackupPolicy(rawValue: backup) != nil
        else { return nil }
    }

    var encoded: Data? {
        do {
            return try JSONEncoder().encode(self)
        } catch {
            preconditionFailure("numbers and text are JSON: \(error)")
        }
    }

    /// The promotion of the newer version, under the name of the older one.
    func entry(after old: LedgerEntry) throws(ItemFormatError) -> LedgerEntry {
        var entry = old
        entry.mode = .decode
        entry.origin = .written
        entry.successor = nil
        (entry.contentBytes, entry.contentChecksum, entry.stagedName) = (
            contentBytes, contentChecksum, stagedName
        )
        (entry.inode, entry.birthTime, entry.openedAt) = (inode, birthTime, openedAt)
        entry.backup = BackupPolicy(rawValue: backup) ?? old.backup
        entry.parts = try parts.withBytes { bytes throws(ItemFormatError) in
            try [BundlePart](decoding: bytes)
        }
        entry.provenance = storedAt.map { storedAt in
            Provenance(
                source: source, intent: Intent(rawValue: intent) ?? .opportunistic,
                validator: Validator(entityTag: entityTag, lastModified: lastModified), url: url,
                attributes: attributes, storedAt: storedAt)
        }
        return entry
    }
}
