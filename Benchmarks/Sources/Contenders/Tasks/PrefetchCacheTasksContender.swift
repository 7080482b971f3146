public import Foundation
import PrefetchCaching

/// One PrefetchCache that several tasks use at the same time.
public final class PrefetchCacheTasksContender: TasksContender {
    public let name = "PrefetchCache"
    public let setup = "one cache, a task group that prefers the cache's executor"
    private var state: State?

    private struct State {
        let cache: PrefetchCache
        let workload: Workload
        let items: [ItemMetadata]
        let shares: [Range<Int>]
    }

    public init() {}

    public var executor: (any TaskExecutor)? { state?.cache.executor }

    public func prepare(in directory: URL, for workload: Workload, tasks: Int) async throws {
        try PrefetchCacheContender.makeItemFolders(in: directory)
        let cache = try await PrefetchCache(areas: .container(at: directory))
        try await cache.configure(CacheConfiguration(budget: .fixed(.gibibytes(16))))
        let items = try workload.contents.indices.map { index in
            ItemMetadata(
                key: try ItemKey(Workload.key(index)),
                destination: .documents(try FileName(Workload.finalName(index))))
        }
        state = State(cache: cache, workload: workload, items: items, shares: workload.shares(tasks))
    }

    public func run(_ job: TasksJob) async throws {
        guard let state else { throw ContenderError.notPrepared }
        let (cache, contents, items) = (state.cache, state.workload.contents, state.items)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for share in state.shares {
                group.addTask {
                    for index in share {
                        switch job {
                        case .store:
                            guard case .stored = try await cache.store(contents[index], as: items[index])
                            else {
                                throw ContenderError.refused
                            }
                        case .read:
                            guard try await cache.read(items[index].key)?.count == contents[index].count
                            else {
                                throw ContenderError.missing
                            }
                        case .promote:
                            guard try await cache.open(items[index].key) != nil else {
                                throw ContenderError.missing
                            }
                        }
                    }
                }
            }
            try await group.waitForAll()
        }
    }

    public func cleanup() async throws {
        try await state?.cache.close()
        state = nil
    }
}
