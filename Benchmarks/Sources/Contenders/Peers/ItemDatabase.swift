import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// A database that is used as a cache: items are kept in it by their keys.
protocol ItemDatabase: ItemContender {
    static var name: String { get }
    static var setup: String { get }

    var promoted: PromotedFiles { get }

    init(in directory: URL, for workload: Workload) throws

    func put(_ index: Int) throws

    func withContent<Result>(_ index: Int, _ body: (UnsafeRawBufferPointer) throws -> Result) throws -> Result

    /// Where that is quicker, all of several in one piece.
    func delete(_ items: Range<Int>) throws
}

extension ItemDatabase {
    func store(_ index: Int) throws { try put(index) }

    func read(_ index: Int) throws -> Int { try withContent(index) { $0.count } }

    func promote(_ index: Int) throws {
        try withContent(index) { try promoted.publish(index, $0) }
        try delete(index..<index + 1)
    }

    func evict(_ items: Range<Int>) throws { try delete(items) }

    func promotedFile(_ index: Int) -> URL { promoted.url(index) }
}

extension Entry {
    static func of(_ database: any ItemDatabase.Type, maximumItems: Int? = nil) -> Entry {
        Entry(database.name, database.setup, maximumItems: maximumItems) {
            try database.init(in: $0, for: $1)
        }
    }

    /// It takes tens of milliseconds for an item.
    static var urlCache: Entry { of(URLCacheItems.self, maximumItems: 16) }
}

/// Foundation's cache of responses, without its part in memory.
final class URLCacheItems: ItemDatabase {
    static let name = "URLCache"
    #if canImport(FoundationNetworking)
        private static let disk =
            "swift-corelibs-foundation, memoryCapacity 0, so that its disk is measured: a keyed archive per response, "
            + "flushed before the call returns"
    #else
        private static let disk =
            "memoryCapacity 0, so that its disk is measured, which Foundation writes to in the background"
    #endif
    static let setup = "\(disk); 16 items; evict: removeAllCachedResponses()"

    let promoted: PromotedFiles
    private let cache: URLCache
    private let requests: [URLRequest]
    private let contents: [[UInt8]]

    init(in directory: URL, for workload: Workload) throws {
        contents = workload.contents
        requests = try contents.indices.map { index in
            guard let url = URL(string: Workload.key(index)) else { throw ContenderError.missing }
            return URLRequest(url: url)
        }
        let folder = directory.appending(path: "items")
        let capacity = 16 << 30
        #if canImport(FoundationNetworking)
            cache = URLCache(
                memoryCapacity: 0, diskCapacity: capacity, diskPath: folder.path(percentEncoded: false))
        #else
            cache = URLCache(memoryCapacity: 0, diskCapacity: capacity, directory: folder)
        #endif
        promoted = try PromotedFiles(in: directory, for: workload)
    }

    func put(_ index: Int) throws {
        let request = requests[index]
        guard let url = request.url,
            let response = HTTPURLResponse(
                url: url, statusCode: 200, httpVersion: "HTTP/1.1",
                headerFields: ["Cache-Control": "max-age=31536000"])
        else { throw ContenderError("a response cannot be made") }
        cache.storeCachedResponse(
            CachedURLResponse(response: response, data: Data(contents[index])), for: request)
    }

    func withContent<Result>(_ index: Int, _ body: (UnsafeRawBufferPointer) throws -> Result) throws -> Result
    {
        guard let response = cache.cachedResponse(for: requests[index]) else { throw ContenderError.missing }
        return try response.data.withUnsafeBytes(body)
    }

    func delete(_ items: Range<Int>) throws {
        if items.count == 1 { return cache.removeCachedResponse(for: requests[items.lowerBound]) }
        cache.removeAllCachedResponses()
    }
}
