public import PrefetchCache

#if canImport(FoundationNetworking)
    public import Foundation
    public import FoundationNetworking
#else
    public import Foundation
#endif

/// One content to download, and what it is to be in the cache.
///
/// ```swift
/// let request = DownloadRequest(
///     url, key: "episode-42", source: "daily", destination: .documents("Episode 42.mp3"),
///     expecting: .sha256(digest))
/// ```
///
/// - Important: One key is one content, wherever it comes from: a download goes on from another URL than the
///   one that it began with when that one gives the same validator.
public struct DownloadRequest: Sendable {
    /// What to do about a key that is in the cache.
    public enum WhenCached: Hashable, Sendable {
        /// Ask the server whether there is a newer version, which then takes the item's place. An item
        /// without a validator cannot be asked for, and stays. Where a digest is expected, it decides instead.
        case revalidate
        /// Ask nobody.
        case keep
        /// Download it in any case.
        case replace
    }

    /// What to do about a key that its user has opened, and whose file is theirs.
    public enum WhenPromoted: Hashable, Sendable {
        /// Nothing: there is ``DownloadOutcome/alreadyPromoted(_:)``.
        case leave
        /// Cache what the server has now, and forget the record once that is whole. The file stays where it is; the
        /// new version goes beside it, under the next free name, when the key is opened.
        case storeAnew
    }

    /// The URL, with the headers that the server needs. Method and body are not used: what is downloaded is
    /// always got. `Range`, conditions and encodings are the downloader's own.
    public var urlRequest: URLRequest
    public var key: ItemKey
    /// See ``ItemMetadata/source``.
    public var source: String
    public var destination: Destination
    /// An opportunistic download goes into the cache, a user-requested one straight to its destination.
    public var intent: Intent
    /// 0 to 1: of those that wait, and in the cache, the higher come first.
    public var priority: Float
    public var expectations: [ContentExpectation]
    /// When the item is no longer worth keeping.
    public var expires: Date?
    /// Bytes of the caller's own, see ``ItemMetadata/attributes``.
    public var attributes: [UInt8]
    public var whenCached: WhenCached
    public var whenPromoted: WhenPromoted

    /// - Parameters:
    ///   - source: The feed or server that the item comes from; `nil` for the host of the URL.
    ///   - expectations: What must be true of the content, or it is not stored.
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

    /// As ``init(_:key:source:destination:intent:priority:expecting:expires:attributes:whenCached:whenPromoted:)``,
    /// for a URL that needs no headers.
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

    /// The item that the download becomes. Neither the URL nor a header of the request is in it.
    func metadata(_ validator: Validator) -> ItemMetadata {
        ItemMetadata(
            key: key, source: source, intent: intent, destination: destination, validator: validator,
            priority: priority,
            expiresAt: expires.map {
                Int64(clamping: Int64(exactly: ($0.timeIntervalSince1970 * 1000).rounded()) ?? .max)
            },
            attributes: attributes)
    }

    /// Whether what was begun as that item may become this one: all that decides what it is and where it goes is the
    /// same. Its priority and its expiry stay those that it was begun with. The user may ask for what nobody had asked
    /// for before.
    func agrees(with item: ItemMetadata) -> Bool {
        item.source == source && item.destination == destination && item.attributes == attributes
            && (item.intent == intent || intent == .userRequested)
    }

    /// Whether the download of this request does for the other as well. The priority and the expiry of the first
    /// request win.
    func serves(_ other: DownloadRequest) -> Bool {
        key == other.key && urlRequest == other.urlRequest && intent == other.intent
            && source == other.source && destination == other.destination && attributes == other.attributes
            && Expectations(expectations) == Expectations(other.expectations)
            && whenCached == other.whenCached && whenPromoted == other.whenPromoted
    }
}
