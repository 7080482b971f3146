public import Foundation
import PrefetchCaching

/// PrefetchCache through its public interface, as an app uses it.
///
/// The encoding is left to the trial, and the budget has room for the workload: eviction is a job of
/// its own. The 256 folders for items are made in advance, as they are for the floor.
///
/// The task either prefers the cache's executor, as a downloader that does little else should, or
/// changes threads twice per call, as any other task does.
public final class PrefetchCacheContender: Contender {
    public let name: String
    public var setup: String {
        let thread =
            prefersExecutor ? "the task prefers the cache's executor" : "the task prefers no executor"
        let evict =
            if case .tight(let bytes) = budget {
                "evicts by itself, within a budget of \(bytes >> 20) MiB"
            } else {
                "evict is evictAll()"
            }
        return "public interface, encoding left to the trial, \(thread); \(evict)"
    }
    private let prefersExecutor: Bool
    private let budget: Budget
    private var state: State?

    /// Where the budget comes from.
    public enum Budget: Sendable {
        /// A figure far above the workload. The volume is asked for its free space all the same.
        case fixed
        /// What the volume can spare, as for an app that configures nothing.
        case live
        /// A figure far above the workload, and a volume that is never asked.
        case none
        /// So few bytes that the cache evicts while it stores: it is not told to.
        case tight(Int64)
    }

    private struct State {
        let cache: PrefetchCache
        let directory: URL
        let items: [ItemMetadata]
    }

    public init(prefersExecutor: Bool = true, budget: Budget = .fixed) {
        self.prefersExecutor = prefersExecutor
        self.budget = budget
        let name = prefersExecutor ? "PrefetchCache" : "PrefetchCache, changing threads"
        self.name =
            switch budget {
            case .fixed, .tight: name
            case .live: "\(name), live budget"
            case .none: "\(name), none budget"
            }
    }

    public var executor: (any TaskExecutor)? { prefersExecutor ? state?.cache.executor : nil }

    public func prepare(in directory: URL, for workload: Workload) async throws {
        try Self.makeItemFolders(in: directory)
        let cache = try await makeCache(in: directory)
        let metadata = try workload.contents.indices.map { index in
            ItemMetadata(
                key: try ItemKey(Workload.key(index)), source: "example.org",
                destination: .documents(try FileName(Workload.finalName(index))))
        }
        state = State(cache: cache, directory: directory, items: metadata)
    }

    /// Apps have one, named by their id; a container has to be told.
    static let excludedFolder: FileName = "org.example.compare"

    /// Makes the folders that the cache would make as they are needed.
    static func makeItemFolders(in directory: URL) throws {
        let items = directory.appending(path: "Library/Caches/PrefetchCache/items")
        for byte in UInt8.min...UInt8.max {
            let name = String(byte >> 4, radix: 16) + String(byte & 15, radix: 16)
            try FileManager.default.createDirectory(
                at: items.appending(path: name), withIntermediateDirectories: true)
        }
    }

    private func makeCache(in directory: URL) async throws -> PrefetchCache {
        var environment = CacheEnvironment.live()
        if case .none = budget {
            environment.volume = VolumeState(total: 1 << 50, available: 1 << 49)
        }
        let cache = try await PrefetchCache(
            areas: .container(at: directory).excluding(into: Self.excludedFolder), environment: environment)
        // Opening the catalog and the ledger is not what is measured, as it is not with other databases.
        let first = ItemMetadata(key: "first", destination: .documents("First"))
        try await cache.store([0], as: first)
        _ = try await cache.open(first.key)
        let configured: CacheConfiguration.Budget =
            switch budget {
            case .fixed, .none: .fixed(.gibibytes(16))
            case .live: .automatic
            case .tight(let bytes): .fixed(.bytes(bytes))
            }
        try await cache.configure(CacheConfiguration(budget: configured))
        return cache
    }

    public func store(_ index: Int, _ content: [UInt8]) async throws {
        let state = try prepared()
        guard case .stored = try await state.cache.store(content, as: state.items[index]) else {
            throw ContenderError.refused
        }
    }

    public func read(_ index: Int) async throws -> Int {
        let state = try prepared()
        guard let content = try await state.cache.read(state.items[index].key) else {
            throw ContenderError.missing
        }
        return content.count
    }

    public func promote(_ index: Int) async throws {
        let state = try prepared()
        guard try await state.cache.open(state.items[index].key) != nil else { throw ContenderError.missing }
    }

    public func evict(_ items: Range<Int>) async throws {
        if case .tight = budget { return }
        guard try await prepared().cache.evictAll().bytes > 0 else { throw ContenderError.missing }
    }

    public func promotedFile(_ index: Int) -> URL {
        guard let state else { preconditionFailure("prepare(in:for:) comes first") }
        return state.directory.appending(
            path: "Documents/\(Self.excludedFolder)/\(Workload.finalName(index))")
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

/// What must not happen in a benchmark.
enum ContenderError: Error {
    case notPrepared, refused, missing
}
