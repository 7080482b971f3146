public import Foundation
public import PrefetchCaching

#if canImport(FoundationNetworking)
    public import FoundationNetworking
#endif

/// One file of a bundle to download.
///
/// ```swift
/// let files = try manifest.files.map { file in
///     BundleFile(try FolderPath(file.path), at: base.appending(path: file.path), expecting: [.length(file.size)])
/// }
/// let request = DownloadRequest(bundle: files, key: "guide", destination: .documents("Guide"))
/// ```
public struct BundleFile: Sendable {
    /// The path of the file in the folder of the bundle. Its last component is the name that the file will have, exactly.
    public var path: FolderPath
    /// The URL, with the headers that the server needs.
    public var urlRequest: URLRequest
    /// The conditions that the file must meet for the bundle to be stored. If both its length and its digest are known, the
    /// server is not asked for them before the first byte.
    public var expectations: [ContentExpectation]

    /// Creates a file at a URL, without headers.
    public init(_ path: FolderPath, at url: URL, expecting expectations: [ContentExpectation] = []) {
        self.path = path
        urlRequest = URLRequest(url: url)
        self.expectations = expectations
    }

    var expected: Expectations { Expectations(expectations, of: urlRequest.url) }

    func isSame(as other: BundleFile) -> Bool {
        path == other.path && urlRequest.isSame(as: other.urlRequest) && expected == other.expected
    }
}

extension DownloadRequest {
    /// Creates a request for several files that are stored as one item: see ``BundleFile``. Their space is reserved together,
    /// before the first byte, and they are opened together, as a folder.
    ///
    /// The files are downloaded one after the other, and stored in this order. The server must say how long each is, unless
    /// that is expected. An interrupted download resumes in the middle of a file.
    ///
    /// A `recordedURL` is one below which the files are found by their paths, so that the bundle can be downloaded again.
    public init(
        bundle files: [BundleFile], key: ItemKey, source: String? = nil, destination: Destination,
        intent: Intent = .opportunistic, priority: Float = 0, expirationDate: Date? = nil,
        attributes: [UInt8] = [], recordedURL: URL? = nil, whenCached: WhenCached = .revalidate,
        whenPromoted: WhenPromoted = .leave
    ) {
        // Without files there is nothing to request, which is an error.
        let first = files.first?.urlRequest ?? URLRequest(url: URL(filePath: "/"))
        self.init(
            first.url ?? URL(filePath: "/"), key: key, source: source, destination: destination,
            intent: intent, priority: priority,
            expirationDate: expirationDate, attributes: attributes, recordedURL: recordedURL,
            whenCached: whenCached, whenPromoted: whenPromoted)
        urlRequest = first
        self.files = files
    }
}

extension URLRequest {
    /// Whether both request the same with the same headers. `==` ignores headers, and compares the unused method and body.
    func isSame(as other: URLRequest) -> Bool {
        url == other.url && allHTTPHeaderFields ?? [:] == other.allHTTPHeaderFields ?? [:]
    }
}
