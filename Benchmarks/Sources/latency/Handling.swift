import Contenders
import Foundation
import PrefetchCaching

/// Stores items in a cache that has room for all, and opens some of them.
struct Handling {
    static let stores = 1000
    private static let opens = 100

    let cache: PrefetchCache
    private let workload: Workload

    init(_ workload: Workload, in cache: PrefetchCache) async throws {
        self.cache = cache
        self.workload = workload
        try await cache.configure(CacheConfiguration(budget: .fixed(.gibibytes(16))))
    }

    func measure(_ number: Int, _ round: inout Round) async throws {
        let items = try (0..<Self.stores).map { index in
            try ItemMetadata(
                key: ItemKey("https://example.org/\(number)/\(index)"), source: "example.org",
                destination: .documents(FileName("Article \(number) \(index)")))
        }
        // What is dirty from before is nobody's to pay for here.
        sync()
        let (stores, opens) = try await withTaskExecutorPreference(cache.executor) {
            (try await store(items), try await open(items.prefix(Self.opens)))
        }
        round.latencies[.store] = stores
        round.latencies[.open] = opens
    }

    private func store(_ items: [ItemMetadata]) async throws -> Latencies {
        var latencies = Latencies()
        for (index, item) in items.enumerated() {
            let content = workload.contents[index % workload.contents.count]
            let outcome = try await latencies.time { try await cache.store(content, as: item) }
            guard case .stored = outcome else {
                throw Unexpected(description: "\(item.key) was not stored: \(outcome)")
            }
        }
        return latencies
    }

    private func open(_ items: ArraySlice<ItemMetadata>) async throws -> Latencies {
        var latencies = Latencies()
        for item in items {
            guard try await latencies.time({ try await cache.open(item.key) }) != nil else {
                throw Unexpected(description: "\(item.key) is missing")
            }
        }
        return latencies
    }
}
