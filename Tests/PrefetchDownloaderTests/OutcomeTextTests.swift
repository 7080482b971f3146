import PrefetchCaching
import PrefetchDownloading
import PrefetchItemFormat
import Testing

/// What an app prints without a thought is one line that says what happened.
@Suite struct OutcomeTextTests {
    @Test func anOutcomeIsOneLine() async throws {
        let cache = try await TestCache()
        let metadata = ItemMetadata(key: "key", destination: .documents("File.txt"))
        let stored = try await cache.cache.store(noise(10_000, seed: 1), as: metadata)
        #expect("\(stored)" == "stored 10000 bytes as 10135")
        #expect(
            "\(DownloadOutcome.refused(.disabled, keptBytes: 1 << 20))"
                == "refused (disabled): storing is switched off; 1048576 bytes are kept")
        #expect("\(DownloadOutcome.cancelled(keptBytes: 0))" == "cancelled")
        let file = try #require(try await cache.cache.open("key"))
        #expect("\(DownloadOutcome.alreadyPromoted(file))" == "already opened: \(file.path)")
        #expect("\(StoreOutcome.delivered(file))" == "delivered 10000 bytes to \(file.path)")
        let statistics = try await cache.cache.statistics()
        #expect("\(statistics)".hasPrefix("0 items of 0 bytes; 0 of "))
        #expect("\(statistics)".hasSuffix(" bytes charged; 1 hits, 0 misses"))
    }
}
