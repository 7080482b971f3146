public import PrefetchStorageAreas

/// Why an item is stored.
public enum Intent: UInt8, Hashable, Sendable, CaseIterable {
    /// The user will probably want it.
    case opportunistic = 1
    /// The user asked for it.
    case userRequested = 2
}

/// What a server reported about the version of a resource, for conditional requests. An empty
/// string is stored as `nil`.
public struct Validator: Hashable, Sendable {
    /// The `ETag` header, with its quotes and, when weak, its prefix.
    public var entityTag: String?
    /// The `Last-Modified` header as received.
    public var lastModified: String?

    /// Creates a validator from the headers of a response.
    public init(entityTag: String? = nil, lastModified: String? = nil) {
        self.entityTag = entityTag
        self.lastModified = lastModified
    }
}

/// The description that an item carries. Together with the content, it suffices to list the item
/// and to promote it.
public struct ItemMetadata: Hashable, Sendable {
    /// The key under which the item is stored.
    public var key: ItemKey
    /// The feed or server that the item comes from; empty when the caller did not name one.
    public var source: String
    /// Why the item is stored.
    public var intent: Intent
    /// Where the item is promoted to when it is opened.
    public var destination: Destination
    /// The version of the resource, as its server reported it.
    public var validator: Validator
    /// From 0 (the default) to 1. Items of lower priority are evicted first, and no item displaces one
    /// of higher priority.
    public var priority: Float
    /// When the item was stored, in milliseconds since 1970. Set by the cache.
    public var storedAt: Int64
    /// When the item is no longer worth keeping, in milliseconds since 1970; `nil`, stored as
    /// `Int64.max`, for never.
    public var expiresAt: Int64?
    /// Bytes of the caller, returned unchanged.
    public var attributes: [UInt8]

    /// Creates the metadata of an item. Bounds are checked by ``validate()``, not here.
    public init(
        key: ItemKey, source: String = "", intent: Intent = .opportunistic, destination: Destination,
        validator: Validator = Validator(), priority: Float = 0, storedAt: Int64 = 0,
        expiresAt: Int64? = nil, attributes: [UInt8] = []
    ) {
        self.key = key
        self.source = source
        self.intent = intent
        self.destination = destination
        self.validator = validator
        self.priority = priority
        self.storedAt = storedAt
        self.expiresAt = expiresAt
        self.attributes = attributes
    }

    /// Whether the item is no longer worth keeping. The clock is read only when there is a limit.
    package func hasExpired(at now: () -> Int64) -> Bool {
        guard let expiresAt else { return false }
        return expiresAt <= now()
    }

    /// Checks the lengths of the fields, the range of the priority, and that no text contains NUL, which a
    /// database takes for the end of a text.
    ///
    /// - Throws: ``ItemFormatError/metadataTooLong(field:bytes:limit:)``,
    ///   ``ItemFormatError/metadataContainsNUL(field:)`` or ``ItemFormatError/priorityOutOfRange(_:)``.
    public func validate() throws(ItemFormatError) {
        let fields = [
            ("source", source.utf8.count, ItemLimits.sourceLength),
            ("entity tag", validator.entityTag?.utf8.count ?? 0, ItemLimits.validatorLength),
            ("last-modified date", validator.lastModified?.utf8.count ?? 0, ItemLimits.validatorLength),
            ("attributes", attributes.count, ItemLimits.attributesLength),
        ]
        for (field, bytes, limit) in fields where bytes > limit {
            throw .metadataTooLong(field: field, bytes: bytes, limit: limit)
        }
        let texts = [
            ("source", source), ("entity tag", validator.entityTag ?? ""),
            ("last-modified date", validator.lastModified ?? ""),
        ]
        for (field, text) in texts where text.utf8.contains(0) { throw .metadataContainsNUL(field: field) }
        guard (0...1).contains(priority) else { throw .priorityOutOfRange(priority) }
    }
}

/// How the content of an item is laid out in its file. Raw values are stored and never change meaning.
public enum ItemEncoding: UInt8, Hashable, Sendable, CaseIterable {
    /// One standard LZ4 frame per chunk.
    case lz4 = 1
    /// The original bytes, so that promotion needs no copy.
    case identity = 2

    /// The name of the encoding in reports: `lz4` or `identity`.
    public var name: String {
        switch self {
        case .lz4: "lz4"
        case .identity: "identity"
        }
    }
}

/// How the encoding of an item is chosen.
public enum EncodingChoice: Hashable, Sendable {
    /// Try LZ4 on the first chunk and keep it when it saves at least one eighth, the rule that ZFS
    /// applies to its blocks; otherwise store the content as it is.
    case automatic
    /// Use this encoding without trying.
    case forced(ItemEncoding)

    /// Whether `stored` instead of `content` bytes saves enough to be worth decoding later.
    static func isWorthwhile(stored: Int, content: Int) -> Bool {
        stored <= content - content / 8
    }
}

/// The bounds of the format, checked before anything is allocated.
public enum ItemLimits {
    /// Bytes of content in every chunk but the last: 1 MiB.
    public static let chunkLength = 1 << 20
    /// The longest footer, in bytes: 1 MiB. Each chunk takes 12 of them.
    public static let footerLength = 1 << 20
    /// The longest content, in bytes: 64 GiB, whose chunk table takes three quarters of the longest footer.
    public static let contentLength: Int64 = 64 << 30
    /// The longest source, in bytes of UTF-8.
    public static let sourceLength = 1024
    /// The longest entity tag or date of a validator, in bytes of UTF-8.
    public static let validatorLength = 4096
    /// The longest attributes that a caller may attach to an item, in bytes: 64 KiB.
    public static let attributesLength = 1 << 16

    /// The longest content of an identity item, in bytes, that every promotion verifies: 4 MiB; see
    /// ``ItemFooter/recordsBoot(_:contentLength:)``.
    package static let alwaysVerifiedLength: Int64 = 4 << 20

    /// The longest content that `storedLength` bytes of LZ4 can hold: it expands at most 255 times.
    static func contentLength(storedLength: Int64) -> Int64 {
        guard storedLength < contentLength else { return contentLength }
        return min(storedLength * 255 + (64 << 10), contentLength)
    }
}
