public import PrefetchCaching

#if canImport(FoundationNetworking)
    public import Foundation
    public import FoundationNetworking
#else
    public import Foundation
#endif

/// One content to download, and what it becomes in the cache.
///
/// ```swift
/// let request = DownloadRequest(
///     url, key: "episode-42", source: "daily", destination: .documents("Episode 42.mp3"),
///     expecting: .sha256(digest))
/// ```
///
/// - Important: One key stands for one content, wherever it comes from: a download that began with one URL
///   resumes from another if that returns the same validator.
public struct DownloadRequest: Sendable {
    /// What to do about a key that is cached.
    public enum WhenCached: Hashable, Sendable {
        /// Ask the server for a newer version, which then replaces the item. An item without a validator
        /// stays, since no server can be asked. If a digest is expected, it decides instead.
        case revalidate
        /// Keep an item that meets the expectations, without contacting the server.
        case keep
        /// Download the content in any case.
        case replace
    }

    /// What to do about a key that the user has opened, and whose file is theirs.
    public enum WhenPromoted: Hashable, Sendable {
        /// Nothing: the outcome is ``DownloadOutcome/alreadyPromoted(_:)``.
        case leave
        /// Cache the server's present version, and forget the record once that is complete. The file stays
        /// where it is; the new version is placed beside it, under the next free name, when the key is
        /// opened.
        case storeAnew
    }

    /// The URL, with the headers that the server needs. Method and body are ignored: the request is always a
    /// GET. The downloader sets `Range`, conditions and encodings itself.
    public var urlRequest: URLRequest
    /// The key that the content is stored under.
    public var key: ItemKey
    /// The feed or server that the content comes from, see ``ItemMetadata/source``.
    public var source: String
    /// Where the content goes: on its first open, or at once if it is user-requested.
    public var destination: Destination
    /// Whether the content is cached (opportunistic) or goes straight to its destination (user-requested).
    public var intent: Intent
    /// The priority, from 0 to 1. Downloads of higher priority start first, and their items are evicted last.
    public var priority: Float
    /// The conditions that the content must meet in order to be stored.
    public var expectations: [ContentExpectation]
    /// When the item expires; `nil` for never.
    public var expires: Date?
    /// Bytes of the caller, see ``ItemMetadata/attributes``.
    public var attributes: [UInt8]
    /// What to do if the key is cached.
    public var whenCached: WhenCached
    /// What to do if the key was opened.
    public var whenPromoted: WhenPromoted

    /// Creates a request.
    ///
    /// - Parameters:
    ///   - source: The feed or server that the content comes from; `nil` for the host of the URL.
    ///   - priority: From 0 to 1.
    ///   - expectations: The conditions that the content must meet in order to be stored.
    public init(
        _ urlRequest: URLRequest, key: ItemKey, source: String? = nil, destination: Destination,
        intent: Intent = .opportunistic, priority: Float = 0, expecting expectations: ContentExpectation...,
        expires: Date? = nil, attributes: [UInt8] = [], whenCached: WhenCached = .revalidate,
        whenPromoted: WhenPromoted = .leave
    ) {
        self.urlRequest = urlRequest
        self.key = key
        self.source = source ?? urlRequest.url?.host() ?? ""
        self.destination = destination
        self.intent = intent
        self.priority = priority
        self.expectations = expectations
        self.expires = expires
        self.attributes = attributes
        self.whenCached = whenCached
        self.whenPromoted = whenPromoted
    }

    /// Creates a request for a URL that needs no headers. The other parameters are those of the initialiser
    /// for a `URLRequest`.
    public init(
        _ url: URL, key: ItemKey, source: String? = nil, destination: Destination,
        intent: Intent = .opportunistic, priority: Float = 0, expecting expectations: ContentExpectation...,
        expires: Date? = nil, attributes: [UInt8] = [], whenCached: WhenCached = .revalidate,
        whenPromoted: WhenPromoted = .leave
    ) {
        self.init(
            URLRequest(url: url), key: key, source: source, destination: destination, intent: intent,
            priority: priority, expires: expires, attributes: attributes, whenCached: whenCached,
            whenPromoted: whenPromoted)
        self.expectations = expectations
    }

    /// The metadata of the item. Contains neither the URL nor a header of the request.
    func metadata(_ validator: Validator) -> ItemMetadata {
        ItemMetadata(
            key: key, source: source, intent: intent, destination: destination, validator: validator,
            priority: priority,
            expiresAt: expires.map {
                Int64(exactly: ($0.timeIntervalSince1970 * 1000).rounded())
                    ?? ($0 < .distantPast ? .min : .max)
            },
            attributes: attributes)
    }

    /// Whether a partial that was begun as `item` can be resumed for this request: everything that determines
    /// what it is and where it goes is the same. Its priority and expiry stay those of its beginning. An
    /// opportunistic partial can be resumed for the user.
    func agrees(with item: ItemMetadata) -> Bool {
        item.source.utf8.elementsEqual(source.utf8) && item.destination == destination
            && item.attributes == attributes
            && (item.intent == intent || intent == .userRequested)
    }

    /// Whether a download for this request serves the other one as well. Priority and expiry may differ: those of
    /// the first request apply.
    func serves(_ other: DownloadRequest) -> Bool {
        // `URLRequest` does not compare headers, and its method and body are not used.
        key == other.key && urlRequest.url == other.urlRequest.url
            && urlRequest.allHTTPHeaderFields ?? [:] == other.urlRequest.allHTTPHeaderFields ?? [:]
            && intent == other.intent && source.utf8.elementsEqual(other.source.utf8)
            && destination == other.destination && attributes == other.attributes
            && Expectations(expectations) == Expectations(other.expectations)
            && whenCached == other.whenCached && whenPromoted == other.whenPromoted
    }
}

/// What is known of a content before it is downloaded. Content that does not meet it is never stored.
public enum ContentExpectation: Hashable, Sendable {
    /// The SHA-256 digest of the content: 32 bytes.
    case sha256([UInt8])
    /// The length of the content in bytes.
    case length(Int64)

    /// Creates an expectation from 64 hexadecimal digits, as `sha256sum` prints them; `nil` for anything
    /// else.
    public static func sha256(hexadecimal text: String) -> ContentExpectation? {
        guard text.utf8.count == 64 else { return nil }
        var bytes: [UInt8] = []
        var rest = text[...]
        while !rest.isEmpty {
            let pair = rest.prefix(2)
            rest = rest.dropFirst(2)
            guard pair.allSatisfy(\.isHexDigit), let byte = UInt8(pair, radix: 16) else { return nil }
            bytes.append(byte)
        }
        return bytes.count == 32 ? .sha256(bytes) : nil
    }
}

/// All expectations of one content.
struct Expectations: Hashable, Sendable {
    var digest: [UInt8]?
    var length: Int64?

    init(_ expectations: [ContentExpectation]) {
        for expectation in expectations {
            switch expectation {
            case .sha256(let bytes): digest = bytes
            case .length(let bytes): length = bytes
            }
        }
    }
}
