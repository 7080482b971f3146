public import Foundation
public import PrefetchCaching

#if canImport(FoundationNetworking)
    public import FoundationNetworking
#endif

/// Content to download, and how to store it.
///
/// ```swift
/// let request = DownloadRequest(
///     url, key: "episode-42", source: "daily", destination: .documents("Episode 42.mp3"),
///     expecting: [.sha256(digest)])
/// ```
///
/// - Important: A key identifies the content regardless of its URL: a download that began with one URL resumes from
///   another one if that returns the same validator.
public struct DownloadRequest: Sendable {
    /// What to do if the key is already cached.
    public enum WhenCached: Hashable, Sendable {
        /// Ask the server for a newer version, which then replaces the item. Of an item without a validator the server cannot
        /// be asked that: it is downloaded again. If a digest is expected, it decides instead.
        case revalidate
        /// Keep an item that meets the expectations, without contacting the server.
        case keep
        /// Download the content in any case.
        case replace
    }

    /// The URL, with the headers that the server needs. Method and body are ignored: the request is always a GET. The
    /// downloader sets `Range`, `Accept-Encoding` and conditional headers itself.
    public var urlRequest: URLRequest
    /// The key that the content is stored under.
    public var key: ItemKey
    /// The feed or server that the content comes from, see ``/PrefetchCaching/ItemMetadata/source``.
    public var source: String
    /// Where the content goes: on its first open, or immediately if it is user-requested. `nil` for content that is
    /// only ever read from the cache.
    public var destination: Destination?
    /// Whether the content is cached (opportunistic) or goes straight to its destination (user-requested).
    public var intent: Intent
    /// The priority, from 0 to 1. Downloads of higher priority start first, and their items are evicted last.
    public var priority: Float
    /// The conditions that the content must meet to be stored.
    public var expectations: [ContentExpectation]
    /// When the item expires; `nil` for never.
    public var expirationDate: Date?
    /// Application-defined bytes, see ``/PrefetchCaching/ItemMetadata/attributes``.
    public var attributes: [UInt8]
    /// A URL to keep with the item, and with its file once it was opened, from which the content can be downloaded
    /// again; `nil` (the default) keeps none. It is stored as it is, and must work without secrets: see
    /// ``/PrefetchCaching/ItemMetadata/url``.
    public var recordedURL: URL?
    /// What to do if the key is already cached.
    public var whenCached: WhenCached
    /// What to do if the key was already opened, so that its file belongs to the user. A file that is left is not downloaded:
    /// the outcome is ``DownloadOutcome/alreadyPromoted(_:)``, as if the server has no newer version.
    public var whenPromoted: WhenPromoted
    /// What may be evicted for the content; `nil` for ``DownloaderConfiguration/admission``.
    public var admission: AdmissionMode?
    /// When, and over which networks, the content may be downloaded; `nil` for ``DownloaderConfiguration/conditions`` if it
    /// is opportunistic, and for no conditions if it is user-requested.
    public var conditions: DownloadConditions?
    /// Whether servers may compress the content for the transfer (`gzip`), which saves most of the bytes of text.
    /// It is stored as it was before, and expectations apply to that. On by default; neither offered for content that is
    /// expected to be longer than 16 MiB, nor for files of bundles.
    public var allowsCompressedTransfer = true
    /// The files of a bundle; empty for a single file.
    public internal(set) var files: [BundleFile] = []
    /// The checksum that the cache had recorded of the content, in place of a digest.
    var checksum: UInt64?

    /// Creates a request, without headers: ``urlRequest`` takes those that the server needs. The parameters are described at the
    /// properties that they set; without a `source`, it is the host of the URL.
    public init(
        _ url: URL, key: ItemKey, source: String? = nil, destination: Destination? = nil,
        intent: Intent = .opportunistic, priority: Float = 0,
        expecting expectations: [ContentExpectation] = [],
        expirationDate: Date? = nil, attributes: [UInt8] = [], recordedURL: URL? = nil,
        whenCached: WhenCached = .revalidate, whenPromoted: WhenPromoted = .leave
    ) {
        urlRequest = URLRequest(url: url)
        self.key = key
        self.source = source ?? url.host() ?? ""
        self.destination = destination
        self.intent = intent
        self.priority = priority
        self.expectations = expectations
        self.expirationDate = expirationDate
        self.attributes = attributes
        self.recordedURL = recordedURL
        self.whenCached = whenCached
        self.whenPromoted = whenPromoted
    }

    /// The metadata of the item. Contains neither the requested URL nor request headers.
    func metadata(_ validator: Validator) -> ItemMetadata {
        ItemMetadata(
            key: key, source: source, intent: intent, destination: destination, validator: validator,
            priority: priority, expirationDate: expirationDate, attributes: attributes, url: recordedURL)
    }

    /// Whether a partial begun as `item` can be resumed for this request: everything that determines its identity and
    /// destination must match. It keeps its original priority and expiry. A user-requested download can resume an
    /// opportunistic partial.
    func agrees(with item: ItemMetadata) -> Bool {
        item.isSameItem(as: metadata(Validator())) && (item.intent == intent || intent == .userRequested)
    }

    /// Whether a download for this request also satisfies the other one. Priority and expiry may differ: those of the
    /// first request apply.
    func serves(_ other: DownloadRequest) -> Bool {
        key == other.key && urlRequest.isSame(as: other.urlRequest)
            && files.count == other.files.count && zip(files, other.files).allSatisfy { $0.isSame(as: $1) }
            && intent == other.intent && metadata(Validator()).isSameItem(as: other.metadata(Validator()))
            && Expectations(of: self) == Expectations(of: other)
            && whenCached == other.whenCached && whenPromoted == other.whenPromoted
    }
}

extension ItemMetadata {
    /// Whether both describe the same item: one source, one destination, the same attributes.
    func isSameItem(as other: ItemMetadata) -> Bool {
        source.utf8.elementsEqual(other.source.utf8) && destination == other.destination
            && attributes == other.attributes
    }
}

/// What is known about content before it is downloaded. Content that differs is never stored.
public enum ContentExpectation: Hashable, Sendable {
    /// The SHA-256 digest of the content: 32 bytes.
    case sha256([UInt8])
    /// The length of the content in bytes.
    case length(Int64)
    /// The media type that the server must say the content has, such as `audio/mpeg`, or `audio/*`; none, and one that says
    /// nothing, such as `application/octet-stream`, pass.
    ///
    /// Without this expectation, a page (`text/html`, `application/xhtml+xml`) is not accepted for a URL whose path has the
    /// extension of audio, video, an image, an archive, a PDF or the like: it is that of an error, or of the login to a
    /// network. `*/*` accepts it.
    case mediaType(String)

    /// Creates an expectation from 64 hexadecimal digits, as printed by `sha256sum`; `nil` for anything else.
    public static func sha256(hexadecimal text: String) -> ContentExpectation? {
        let digits = text.compactMap(\.hexDigitValue)
        guard text.utf8.count == 64, digits.count == 64 else { return nil }
        return .sha256(stride(from: 0, to: 64, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) })
    }
}

/// The expectations for one download.
struct Expectations: Hashable, Sendable {
    var digest: [UInt8]?
    var length: Int64?
    /// Whether the digest is a checksum of the cache rather than SHA-256.
    var isChecksum = false
    /// In lower case.
    var mediaType: String?
    /// Whether the path says that the content is no page.
    var isNoPage = false
}

extension Expectations {
    init(_ expectations: [ContentExpectation], of url: URL?) {
        isNoPage = Self.isNoPage(url)
        for expectation in expectations {
            switch expectation {
            case .sha256(let bytes): digest = bytes
            case .length(let bytes): length = bytes
            case .mediaType(let type): mediaType = type.lowercased()
            }
        }
    }

    init(of request: DownloadRequest) {
        self.init(request.expectations, of: request.urlRequest.url)
        if digest == nil, let checksum = request.checksum {
            digest = checksum.bigEndianBytes
            isChecksum = true
        }
    }
}
