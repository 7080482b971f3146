import Benchmark
import Contenders
import Foundation
import PrefetchCaching

/// What is not about one item: what the catalog tells, a store that is refused, and eviction.
final class Upkeep {
    private static let items = 1_000
    private static let size = 4 << 10
    /// Used up by the items: what does not compress is charged with a block more, for its footer.
    private static let budget = ByteCount.bytes(Int64(items * (size + 4096)))

    private var workspace: Workspace?
    private var cache: PrefetchCache?
    private var contents: [[UInt8]] = []
    private var next = 0

    func register() {
        register("statistics-of-\(Self.items)-items") { cache, _ in
            blackHole(try await cache.statistics())
        }
        register("list-of-\(Self.items)-items") { cache, _ in
            blackHole(try await cache.items())
        }
        register("store-that-evicts-one-item") { cache, contents in
            self.next += 1
            let item = try ItemMetadata(
                key: ItemKey("new \(self.next)"), destination: .documents(FileName("New \(self.next)")))
            try await cache.demand(contents[self.next % contents.count], as: item)
        }
        register("refusal-of-too-large-an-item") { cache, contents in
            let item = ItemMetadata(key: "large", destination: .documents("Large"))
            blackHole(try await cache.beginStoring(item, expectedLength: 1 << 34))
        }
    }

    private func register(
        _ name: String, _ body: @escaping (PrefetchCache, [[UInt8]]) async throws -> Void
    ) {
        Benchmark(
            name,
            configuration: .init(
                metrics: Measured.metrics, warmupIterations: 3, maxDuration: .seconds(2), maxIterations: 300,
                thresholds: Measured.thresholds),
            closure: { benchmark in
                guard let cache = self.cache else { return }
                benchmark.startMeasurement()
                try await body(cache, self.contents)
                benchmark.stopMeasurement()
            },
            setup: { try await self.setUp() }, teardown: { try await self.tearDown() })
    }

    private func setUp() async throws {
        let workspace = try Workspace()
        self.workspace = workspace
        let cache = try await PrefetchCache(areas: .container(at: workspace.makeFolder()))
        self.cache = cache
        try await cache.configure(CacheConfiguration(budget: .fixed(Self.budget)))
        contents = Workload(incompressibleOf: Self.size, count: Self.items).contents
        for (index, content) in contents.enumerated() {
            let item = try ItemMetadata(
                key: ItemKey("item \(index)"), destination: .documents(FileName("Item \(index)")))
            try await cache.demand(content, as: item)
        }
        _ = try await cache.statistics()
    }

    private func tearDown() async throws {
        try await cache?.close()
        cache = nil
        try workspace?.remove()
        workspace = nil
    }
}
