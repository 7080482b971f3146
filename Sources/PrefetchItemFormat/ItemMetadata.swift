public import Foundation
public import PrefetchStorageAreas

/// Why an item is stored.
public enum Intent: UInt8, Hashable, Sendable, CaseIterable {
    /// The user will probably want it.
    case opportunistic = 1
    /// The user asked for it.
    case userRequested = 2
}

/// What a server reported about the version of a resource, for conditional requests. Empty strings are stored as `nil`.
public struct Validator: Hashable, Sendable {
    /// The `ETag` header, with its quotes and, if weak, its `W/` prefix.
    public var entityTag: String?
    /// The `Last-Modified` header as received.
    public var lastModified: String?

    /// Creates a validator from response headers.
    public init(entityTag: String? = nil, lastModified: String? = nil) {
        self.entityTag = entityTag
        self.lastModified = lastModified
    }

    /// Whether nothing is known of the version.
    package var isEmpty: Bool { entityTag == nil && lastModified == nil }
}

/// The metadata stored inside an item. Together with the content, it is sufficient to list and promote the item.
public struct ItemMetadata: Hashable, Sendable {
    /// The key under which the item is stored.
    public var key: ItemKey
    /// The feed or server that the item comes from; empty if none was given.
    public var source: String
    /// Why the item is stored.
    public var intent: Intent
    /// Where the item is promoted to when it is opened; `nil` for an item that is only ever read, such as a thumbnail.
    public var destination: Destination?
    /// The version of the resource, as reported by its server.
    public var validator: Validator
    /// From 0 (the default) to 1. Items of lower priority are evicted first, and no item displaces one of higher
    /// priority.
    public var priority: Float
    /// When the item was stored, in milliseconds since 1970. Set by the cache.
    package var storedAt: Int64
    /// When the item expires, in milliseconds since 1970; `nil`, stored as `Int64.max`, for never.
    package var expiresAt: Int64?
    /// Application-defined bytes, returned unchanged.
    public var attributes: [UInt8]
    /// An `http` or `https` URL from which the content can be downloaded again, recorded with the item and, once it was
    /// opened, with its file; `nil` for none. It must work without secrets, since it is stored as it is: it may have no
    /// user and no password, and its query should have no token.
    public var url: URL?
    /// The files of a bundle, in the order of their content; empty for an item that is one file. A bundle needs a
    /// destination, which is that of the folder with the files.
    public var parts: [BundlePart]

    /// Creates the metadata of an item. Bounds are not checked until ``validate()``.
    public init(
        key: ItemKey, source: String = "", intent: Intent = .opportunistic, destination: Destination? = nil,
        validator: Validator = Validator(), priority: Float = 0, expirationDate: Date? = nil,
        attributes: [UInt8] = [], url: URL? = nil, parts: [BundlePart] = []
    ) {
        self.init(
            key: key, source: source, intent: intent, destination: destination, validator: validator,
            priority: priority, expiresAt: expirationDate?.milliseconds, attributes: attributes, url: url,
            parts: parts)
    }

    package init(
        key: ItemKey, source: String = "", intent: Intent = .opportunistic, destination: Destination? = nil,
        validator: Validator = Validator(), priority: Float = 0, storedAt: Int64 = 0, expiresAt: Int64?,
        attributes: [UInt8] = [], url: URL? = nil, parts: [BundlePart] = []
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
        self.url = url
        self.parts = parts
    }

    /// When the item expires; `nil` for never.
    public var expirationDate: Date? {
        get { expiresAt.map(Date.init(milliseconds:)) }
        set { expiresAt = newValue?.milliseconds }
    }

    /// When the item was stored. Set by the cache.
    public var storedDate: Date { Date(milliseconds: storedAt) }

    /// Whether the item has expired. The clock is read only if the item can expire.
    package func hasExpired(at now: () -> Int64) -> Bool {
        guard let expiresAt else { return false }
        return expiresAt <= now()
    }

    /// Checks the lengths of the fields, the range of the priority, the form of the URL, that a user-requested item has
    /// a destination, that the parts of a bundle can be files of one folder, and that no text contains NUL, which would
    /// terminate it in a database.
    ///
    /// - Throws: ``ItemFormatError/metadataTooLong(field:bytes:limit:)``,
    ///   ``ItemFormatError/metadataContainsNUL(field:)``, ``ItemFormatError/priorityOutOfRange(_:)``,
    ///   ``ItemFormatError/destinationMissing``, ``ItemFormatError/unsuitableURL``, ``ItemFormatError/bundle(_:)`` or
    ///   ``ItemFormatError/contentTooLong``.
    public func validate() throws(ItemFormatError) {
        try Self.check(source, "source", ItemLimits.sourceBytes)
        try Self.check(validator.entityTag, "entity tag", ItemLimits.validatorBytes)
        try Self.check(validator.lastModified, "last-modified date", ItemLimits.validatorBytes)
        try Self.check(attributes.count, "attributes", ItemLimits.attributesBytes)
        try Self.check(url?.absoluteString.utf8.count ?? 0, "URL", ItemLimits.urlBytes)
        guard (0...1).contains(priority) else { throw .priorityOutOfRange(priority) }
        guard destination != nil || intent == .opportunistic else { throw .destinationMissing }
        try parts.validate(for: destination)
        if let url {
            guard ["http", "https"].contains(url.scheme?.lowercased()), url.host()?.isEmpty == false,
                url.user() == nil, url.password() == nil
            else { throw .unsuitableURL }
        }
    }

    private static func check(_ text: String?, _ field: String, _ limit: Int) throws(ItemFormatError) {
        guard let text else { return }
        try check(text.utf8.count, field, limit)
        guard !text.utf8.contains(0) else { throw .metadataContainsNUL(field: field) }
    }

    private static func check(_ bytes: Int, _ field: String, _ limit: Int) throws(ItemFormatError) {
        guard bytes <= limit else { throw .metadataTooLong(field: field, bytes: bytes, limit: limit) }
    }

    /// Checks that content is as long as the files of the bundle, if the item is one.
    ///
    /// - Throws: ``ItemFormatError/contentDiffersFromParts(contentBytes:partsBytes:)``.
    package func requireLength(_ contentBytes: Int64) throws(ItemFormatError) {
        guard !parts.isEmpty, let partsBytes = parts.contentBytes, partsBytes != contentBytes else { return }
        throw .contentDiffersFromParts(contentBytes: contentBytes, partsBytes: partsBytes)
    }
}

/// The bounds of the format, checked before anything is allocated.
public enum ItemLimits {
    /// Bytes of content in every chunk but the last: 1 MiB.
    public static let chunkBytes = 1 << 20
    /// The longest footer, in bytes: 1 MiB. Each chunk takes 12 bytes.
    public static let footerBytes = 1 << 20
    /// The longest content, in bytes: 64 GiB, whose chunk table takes three quarters of the longest footer.
    public static let contentBytes: Int64 = 64 << 30
    /// The longest source, in bytes of UTF-8.
    public static let sourceBytes = 1024
    /// The longest entity tag or date of a validator, in bytes of UTF-8.
    public static let validatorBytes = 4096
    /// The longest URL, in bytes.
    public static let urlBytes = 16_384
    /// The longest attributes of an item, in bytes: 64 KiB.
    public static let attributesBytes = 1 << 16
    /// The longest list of the files of a bundle, in bytes: 128 KiB. Each takes 10 bytes and its path.
    public static let partsBytes = 1 << 17

    /// The longest footer of a newer version, in bytes, that is told from damage: 16 MiB.
    static let newerFooterBytes = 16 << 20

    /// The longest content of an identity item, in bytes, that is verified on every promotion: 4 MiB; see
    /// ``ItemFooter/recordsBoot(_:contentBytes:)``.
    package static let alwaysVerifiedBytes: Int64 = 4 << 20

    /// The longest content, in bytes, of `storedBytes` bytes of LZ4, whose maximum ratio is 255.
    static func contentBytes(storedBytes: Int64) -> Int64 {
        guard storedBytes < contentBytes else { return contentBytes }
        return min(storedBytes * 255 + (64 << 10), contentBytes)
    }
}

// Times are stored, compared and computed in milliseconds since 1970; the public API uses `Date`.
extension Date {
    /// Creates a date from milliseconds since 1970.
    package init(milliseconds: Int64) {
        self.init(timeIntervalSince1970: Double(milliseconds) / 1000)
    }

    /// Milliseconds since 1970, rounded and clamped to `Int64`.
    package var milliseconds: Int64 {
        let milliseconds = (timeIntervalSince1970 * 1000).rounded()
        return Int64(exactly: milliseconds) ?? (milliseconds < 0 ? .min : .max)
    }
}
