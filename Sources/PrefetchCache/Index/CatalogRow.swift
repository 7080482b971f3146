internal import GRDB
internal import ItemFormat
internal import StorageAreas
internal import SystemPackage

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// What the catalog knows of one file of the cache.
struct CatalogRow: Sendable {
    /// What a file is to the cache. The raw value is stored, and orders victims: higher ones first.
    enum Kind: Int, Sendable {
        /// A partial of a newer version: as ``newerFormat``.
        case newerPartial = -2
        /// An item of a newer version: counted, but never a victim and never listed.
        case newerFormat = -1
        case item = 0
        /// A damaged item in the quarantine. Its hash is that of its name there.
        case quarantined = 1
        /// The kept part of an item whose storing was interrupted, see ``PartialFiles``. Its hash is
        /// ``ItemFormat/KeyHash/ofPartial``.
        case partial = 2
    }

    var kind: Kind
    var hash: KeyHash
    var key: String
    var metadata: ItemMetadata?
    var encoding: ItemEncoding
    /// Bytes of content.
    var contentLength: Int64
    /// Stored bytes: the length of the file.
    var storedLength: Int64
    /// Charged bytes, which count against the budget.
    var chargedLength: Int64
    /// Whether the catalog charges for the file already, under another row.
    var isSettled = false

    init(
        _ metadata: ItemMetadata, encoding: ItemEncoding, contentLength: Int64, storedLength: Int64,
        chargedLength: Int64
    ) {
        kind = .item
        hash = metadata.key.hash
        key = metadata.key.string
        self.metadata = metadata
        self.encoding = encoding
        self.contentLength = contentLength
        self.storedLength = storedLength
        self.chargedLength = chargedLength
    }

    /// A file whose content is unknown.
    init(opaque kind: Kind, hash: KeyHash, storedLength: Int64, chargedLength: Int64) {
        self.kind = kind
        self.hash = hash
        key = ""
        encoding = .identity
        contentLength = 0
        self.storedLength = storedLength
        self.chargedLength = chargedLength
    }
}

extension CatalogRow {
    static let upsert = """
        INSERT INTO item (hash, kind, key, source, intent, area, name, backup, encoding, contentLength,
            storedLength, chargedLength, priority, storedAt, expiresAt, lastUse, folder, isVisited)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0)
        ON CONFLICT (hash) DO UPDATE SET kind = excluded.kind, key = excluded.key,
            source = excluded.source, intent = excluded.intent, area = excluded.area,
            name = excluded.name, backup = excluded.backup, encoding = excluded.encoding,
            contentLength = excluded.contentLength, storedLength = excluded.storedLength,
            chargedLength = excluded.chargedLength, priority = excluded.priority,
            storedAt = excluded.storedAt, expiresAt = excluded.expiresAt, lastUse = excluded.lastUse,
            folder = excluded.folder, isVisited = 0
        """

    func write(to database: Database, lastUse: Int64) throws {
        try database.cachedStatement(sql: Self.upsert).execute(arguments: [
            hash.data, kind.rawValue, key, metadata?.source ?? "",
            Int((metadata?.intent ?? .opportunistic).rawValue),
            Int((metadata?.destination.area ?? .applicationSupport).rawValue),
            metadata?.destination.name.string ?? "",
            Int((metadata?.destination.backup ?? .include).rawValue), Int(encoding.rawValue),
            contentLength, storedLength, chargedLength, Double(metadata?.priority ?? 0),
            metadata?.storedAt ?? 0, metadata?.expiresAt, lastUse,
            metadata?.destination.folder?.string ?? "",
        ])
    }
}

extension CachedItem {
    static let select = """
        SELECT key, source, intent, area, name, backup, encoding, contentLength, storedLength,
            chargedLength, priority, storedAt, expiresAt, lastUse, folder
        FROM item
        """

    /// - Returns: `nil` for a row that this code could not have written. The item itself is authoritative, so
    ///   such a row counts as missing.
    init?(_ row: Row) {
        do {
            let key = try ItemKey(try row.value(0))
            guard let intent = Intent(rawValue: try row.value(2)),
                let area = Area(rawValue: try row.value(3)),
                let backup = BackupPolicy(rawValue: try row.value(5)),
                let encoding = ItemEncoding(rawValue: try row.value(6)),
                let destination = Destination(
                    area: area, name: try FileName(try row.value(4)),
                    in: try FolderPath?(stored: try row.value(14)),
                    backup: backup)
            else { return nil }
            self.init(
                key: key, source: try row.value(1), intent: intent, destination: destination,
                encoding: encoding,
                contentLength: try row.value(7), storedLength: try row.value(8),
                chargedLength: try row.value(9),
                priority: Float(try row.value(10, as: Double.self)), storedAt: try row.value(11),
                expiresAt: try row.value(12),
                lastUse: try row.value(13))
        } catch {
            return nil
        }
    }
}

extension KeyHash {
    /// The 16 bytes as SQLite stores them.
    var data: Data { Data(bytes) }

    init?(data: Data) {
        guard data.count == 16 else { return nil }
        let words = data.withUnsafeBytes {
            ($0.loadUnaligned(as: UInt64.self), $0.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
        }
        self.init(high: UInt64(bigEndian: words.0), low: UInt64(bigEndian: words.1))
    }
}
