public import Foundation
import PrefetchCaching
import Synchronization

/// PrefetchCache with a large item: stored from a file, read piece by piece.
public final class PrefetchCacheLargeContender: LargeContender {
    public let name: String
    public let setup: String
    private let hasOneThread: Bool
    private var state: State?

    private struct State {
        let cache: PrefetchCache
        let directory: URL
        let file: LargeFile
        let item: ItemMetadata
    }

    /// - Parameter hasOneThread: Whether chunks are compressed and decompressed one after the other.
    public init(hasOneThread: Bool = false) {
        self.hasOneThread = hasOneThread
        name = hasOneThread ? "PrefetchCache, one thread" : "PrefetchCache"
        setup =
            "store(contentsOf:), stream(_:to:) and open(_:), encoding left to the trial"
            + (hasOneThread ? "; one chunk at a time" : "")
    }

    public var executor: (any TaskExecutor)? { state?.cache.executor }

    public func prepare(in directory: URL, for file: LargeFile) async throws {
        var environment = CacheEnvironment.live()
        if hasOneThread { environment.parallelism = 1 }
        let areas = try StorageAreas.container(at: directory)
            .excluding(into: PrefetchCacheContender.excludedFolder)
        let cache = try await PrefetchCache(areas: areas, environment: environment)
        try await cache.configure(CacheConfiguration(budget: .fixed(.gibibytes(16))))
        // Making the catalog and the ledger is not what is measured.
        let first = ItemMetadata(key: "first", destination: .documents("First"))
        try await cache.store([0], as: first)
        _ = try await cache.open(first.key)
        let item = ItemMetadata(
            key: try ItemKey(Workload.key(0)), destination: .documents(try FileName(Workload.finalName(0))))
        state = State(cache: cache, directory: directory, file: file, item: item)
    }

    public func store() async throws {
        let state = try prepared()
        guard case .stored = try await state.cache.store(contentsOf: state.file.url, as: state.item) else {
            throw ContenderError.refused
        }
    }

    public func read() async throws {
        let state = try prepared()
        let length = Mutex(0)
        _ = try await state.cache.stream(state.item.key) { piece in
            length.withLock { $0 += piece.count }
        }
        guard length.withLock({ $0 }) == state.file.size else {
            throw WrongContent(contender: name, item: 0)
        }
    }

    public func promote() async throws {
        let state = try prepared()
        guard try await state.cache.open(state.item.key) != nil else { throw ContenderError.missing }
    }

    public var promotedFile: URL {
        get throws {
            try prepared().directory.appending(
                path: "Documents/\(PrefetchCacheContender.excludedFolder)/\(Workload.finalName(0))")
        }
    }

    public func cleanup() async throws {
        try await state?.cache.close()
        state = nil
    }

    private func prepared() throws -> State {
        guard let state else { throw ContenderError.notPrepared }
        return state
    }
}
