public import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Foundation's cache of responses, without its part in memory.
public final class URLCacheContender: Contender {
    public let name = "URLCache"
    #if canImport(FoundationNetworking)
        public let setup = """
            swift-corelibs-foundation, memoryCapacity 0, so that its disk is measured: a keyed archive per \
            response, flushed before the call returns; 16 items; \
            evict: removeAllCachedResponses()
            """
    #else
        public let setup = """
            memoryCapacity 0, so that its disk is measured, which Foundation writes to in the background; \
            16 items; \
            evict: removeAllCachedResponses()
            """
    #endif
    /// It takes tens of milliseconds for an item.
    public let maximumItems: Int? = 16
    private var state: State?

    private struct State {
        let cache: URLCache
        let requests: [URLRequest]
        let promoted: PromotedFiles
    }

    public init() {}

    public func prepare(in directory: URL, for workload: Workload) throws {
        let requests = try workload.contents.indices.map { index in
            guard let url = URL(string: Workload.key(index)) else { throw ContenderError.missing }
            return URLRequest(url: url)
        }
        let folder = directory.appending(path: "items")
        let capacity = 16 << 30
        #if canImport(FoundationNetworking)
            let cache = URLCache(
                memoryCapacity: 0, diskCapacity: capacity, diskPath: folder.path(percentEncoded: false))
        #else
            let cache = URLCache(memoryCapacity: 0, diskCapacity: capacity, directory: folder)
        #endif
        state = State(
            cache: cache, requests: requests, promoted: try PromotedFiles(in: directory, for: workload))
    }

    public func store(_ index: Int, _ content: [UInt8]) throws {
        let state = try prepared()
        let request = state.requests[index]
        guard let url = request.url,
            let response = HTTPURLResponse(
                url: url, statusCode: 200, httpVersion: "HTTP/1.1",
                headerFields: ["Cache-Control": "max-age=31536000"])
        else { throw ContenderError.refused }
        state.cache.storeCachedResponse(
            CachedURLResponse(response: response, data: Data(content)), for: request)
    }

    public func read(_ index: Int) throws -> Int {
        try content(index).count
    }

    public func promote(_ index: Int) throws {
        let state = try prepared()
        try content(index).withUnsafeBytes { try state.promoted.publish(index, $0) }
        state.cache.removeCachedResponse(for: state.requests[index])
    }

    public func evict(_ items: Range<Int>) throws {
        try prepared().cache.removeAllCachedResponses()
    }

    public func promotedFile(_ index: Int) -> URL {
        guard let state else { preconditionFailure("prepare(in:for:) comes first") }
        return state.promoted.url(index)
    }

    public func cleanup() {
        state = nil
    }

    private func content(_ index: Int) throws -> Data {
        let state = try prepared()
        guard let response = state.cache.cachedResponse(for: state.requests[index]) else {
            throw ContenderError.missing
        }
        return response.data
    }

    private func prepared() throws -> State {
        guard let state else { throw ContenderError.notPrepared }
        return state
    }
}
