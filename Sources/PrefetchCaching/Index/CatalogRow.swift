internal import Foundation
internal import PrefetchItemFormat

/// What the catalog knows about one file of the cache.
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
        /// ``PrefetchItemFormat/KeyHash/ofPartial``.
        case partial = 2
    }

    var kind: Kind
    var hash: KeyHash
    var key: String
    var metadata: ItemMetadata?
    var encoding: ItemEncoding
    /// Bytes of content.
    var contentBytes: Int64
    /// Stored bytes: the length of the file.
    var storedBytes: Int64
    /// Charged bytes, which count against the budget.
    var chargedBytes: Int64
    /// Whether the catalog already charges for the file, under another row.
    var isRecorded = false

    init(
        _ metadata: ItemMetadata, encoding: ItemEncoding, contentBytes: Int64, storedBytes: Int64,
        chargedBytes: Int64
    ) {
        kind = .item
        hash = metadata.key.hash
        key = metadata.key.string
        self.metadata = metadata
        self.encoding = encoding
        self.contentBytes = contentBytes
        self.storedBytes = storedBytes
        self.chargedBytes = chargedBytes
    }

    /// A file whose content is unknown.
    init(opaque kind: Kind, hash: KeyHash, storedBytes: Int64, chargedBytes: Int64) {
        self.kind = kind
        self.hash = hash
        key = ""
        encoding = .identity
        contentBytes = 0
        self.storedBytes = storedBytes
        self.chargedBytes = chargedBytes
    }
}

/// A file that may be evicted.
struct Victim: Sendable {
    let hash: KeyHash
    let key: String
    let kind: CatalogRow.Kind
    /// Charged bytes, which eviction frees.
    let chargedBytes: Int64
    let priority: Float
    var source = ""
    var lastUse: Int64 = 0
    /// In milliseconds since 1970.
    var storedAt: Int64 = 0
    var isUsed = false
    /// What the policy makes of it, if it weighs items.
    var worth: Double?

    /// Milliseconds since it was stored; 0 for an item that was used before, which has shown its worth, whenever that was.
    ///
    /// - Parameter now: In milliseconds since 1970.
    func age(at now: Int64) -> Int64 { isUsed ? 0 : max(0, now.subtractingOrMax(storedAt)) }

    var itemKey: ItemKey? { ItemKey(inRow: key) }

    /// The hash of the key.
    var hashOfItem: KeyHash {
        switch kind {
        case .partial, .newerPartial: hash.ofPartial
        case .quarantined: hash.inQuarantine
        case .item, .newerFormat: hash
        }
    }
}

extension ItemKey {
    /// - Returns: `nil` for a damaged row, and for what has no key there.
    init?(inRow text: String) {
        do { self = try ItemKey(text) } catch { return nil }
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
