import CoreMetrics
import FileSystemTestSupport
import Foundation
import MetricsTestKit
import PrefetchCaching
import PrefetchMetrics
import Testing

@Suite struct CacheMetricsTests {
    private let folder: TemporaryFolder
    private let cache: PrefetchCache
    private let backend = TestMetrics()
    private let metrics: CacheMetrics
    private let moments = Moments()

    init() async throws {
        folder = try TemporaryFolder()
        cache = try await PrefetchCache(areas: .container(at: folder.path))
        try await cache.configure { $0.budget = .fixed(.mebibytes(8)) }
        metrics = CacheMetrics(of: cache, dimensions: [("app", "podcasts")], factory: backend)
    }

    /// Moments to measure at, given by hand.
    private struct Moments {
        /// Every time when what came before was measured.
        let asked: AsyncStream<Void>
        let sequence: AsyncStream<Void>
        private let given: AsyncStream<Void>.Continuation

        init() {
            let (asked, ask) = AsyncStream<Void>.makeStream()
            let (moments, given) = AsyncStream<Void>.makeStream()
            self.asked = asked
            self.given = given
            sequence = AsyncStream {
                ask.yield()
                var iterator = moments.makeAsyncIterator()
                return await iterator.next()
            }
        }

        func give() { given.yield() }

        func measured() async {
            var iterator = asked.makeAsyncIterator()
            await iterator.next()
        }
    }

    private func run() -> Task<Void, Never> {
        Task { [metrics, moments] in await metrics.run(measuringAt: moments.sequence) }
    }

    private func store(_ key: ItemKey, bytes: Int = 100_000) async throws {
        let name = try FileName(key.string)
        try await cache.store(
            Data(repeating: 7, count: bytes), as: ItemMetadata(key: key, destination: .documents(name)))
    }

    private func count(_ name: String, _ dimension: (String, String)? = nil) throws -> Int64 {
        let dimensions = [("app", "podcasts")] + [dimension].compactMap(\.self)
        return try backend.expectCounter("prefetchcache_process_\(name)_total", dimensions).totalValue
    }

    private func gauge(_ name: String) throws -> Double? {
        try backend.expectGauge("prefetchcache_\(name)", [("app", "podcasts")]).lastValue
    }

    @Test func everyEventIsCountedWithItsBytes() async throws {
        let run = run()
        await moments.measured()
        for key: ItemKey in ["opened", "removed", "evicted"] { try await store(key) }
        _ = try await cache.open("opened")
        try await cache.remove("removed")
        let freed = try await cache.evictAll()
        try await store("too large", bytes: 1 << 30)
        try await cache.close()
        await run.value

        for (event, number) in [
            "stored": 3, "promoted": 1, "removed": 1, "evicted": 1, "refused": 1, "purged": 0,
            "eventsLost": 0,
        ] {
            #expect(try count("events", ("event", event)) == number, "\(event)")
        }
        #expect(try count("stored_content_bytes") == 300_000)
        #expect(try (1..<300_000).contains(count("stored_file_bytes")))
        #expect(try count("evicted_charged_bytes") == freed.bytes && freed.bytes > 0)
        #expect(try count("refusals", ("reason", "largerThanLargestItem")) == 1)
        #expect(try count("refusals", ("reason", "pressure")) == 0)
    }

    @Test func gaugesFollowTheCacheFromMomentToMoment() async throws {
        let run = run()
        await moments.measured()
        #expect(try gauge("budget_bytes") == 8 * 1024 * 1024)
        #expect(try gauge("cached_items") == 0)
        #expect(throws: (any Error).self, "nothing was used or wasted") { try gauge("used_ratio") }
        try await store("a")
        try await store("b")
        _ = try await cache.open("a")
        #expect(try gauge("cached_items") == 0)
        moments.give()
        await moments.measured()
        let statistics = try await cache.statistics()
        #expect(try gauge("cached_items") == 1)
        #expect(try gauge("charged_bytes") == Double(statistics.chargedBytes))
        #expect(try gauge("hit_ratio") == 1)
        #expect(try gauge("used_ratio") == 1)
        run.cancel()
        await run.value
    }

    @Test func aCancelledTaskEnds() async throws {
        let run = Task { [metrics] in await metrics.run(every: .seconds(86400)) }
        run.cancel()
        await run.value
        #expect(try await cache.statistics().items == 0)
    }

    @Test func whatCannotBeMeasuredIsCounted() async throws {
        try await cache.close()
        await run().value
        #expect(try count("failed_measurements") == 1)
    }

    @Test func callsAreTimedWhetherTheyReturnOrThrow() async throws {
        let cache = cache
        #expect(try await metrics.measure("read") { try await cache.read("nothing") } == nil)
        try await cache.close()
        await #expect(throws: CacheError.self) {
            try await metrics.measure("read") { try await cache.read("nothing") }
        }
        let timer = try backend.expectTimer(
            "prefetchcache_process_call_duration_seconds", [("app", "podcasts"), ("call", "read")])
        #expect(timer.values.count == 2 && timer.values.allSatisfy { $0 > 0 && $0 < 60_000_000_000 })
    }

    @Test func everyNameIsInTheArticle() async throws {
        try await store("a")
        _ = try await cache.open("a")
        let run = run()
        await moments.measured()
        try await metrics.measure("close") { try await cache.close() }
        await run.value
        let names =
            backend.counters.map(\.label) + backend.recorders.map(\.label) + backend.timers.map(\.label)
        let package = URL(filePath: #filePath).resolvingSymlinksInPath()
            .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        let article = try String(
            contentsOf: package.appending(path: "Sources/PrefetchCaching/PrefetchCaching.docc/Metrics.md"),
            encoding: .utf8)
        let listed = article.matches(of: /(?m)^\| `(prefetchcache_\w+)` \| \w+ \|/).map { String($0.1) }
        #expect(Set(names).subtracting(listed).isEmpty)
        #expect(Set(listed).isSubset(of: names))
    }
}
