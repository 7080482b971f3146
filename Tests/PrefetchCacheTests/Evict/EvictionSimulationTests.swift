import FileSystemTestSupport
import Foundation
import Testing

@_spi(Simulation) @testable import PrefetchCaching

/// A trace of 200,000 requests, for which what a cache of exact least recent use does is known from
/// other implementations.
@Suite struct EvictionSimulationTests {
    /// What came of a capacity.
    struct Reference: Sendable, CustomTestStringConvertible {
        let capacity: Int64
        let hits: Int64
        let hitBytes: Int64
        let evictions: Int64
        let residentItems: Int
        let residentBytes: Int64

        var testDescription: String { "\(capacity >> 20) MiB" }

        var result: ReplayTally {
            var result = ReplayTally()
            result.requests = Int64(EvictionSimulationTests.requests)
            result.hits = hits
            result.hitBytes = hitBytes
            result.evictions = evictions
            result.residentItems = residentItems
            result.residentBytes = residentBytes
            return result
        }
    }

    static let requests = 200_000
    static let references = [
        Reference(
            capacity: 1 << 28, hits: 1751, hitBytes: 20_570_837_080, evictions: 166_436,
            residentItems: 29, residentBytes: 246_230_303),
        Reference(
            capacity: 1 << 31, hits: 1898, hitBytes: 168_972_785_051, evictions: 198_079,
            residentItems: 23, residentBytes: 1_447_508_662),
        Reference(
            capacity: 1 << 33, hits: 7020, hitBytes: 733_515_126_423, evictions: 192_914,
            residentItems: 66, residentBytes: 8_472_820_183),
        Reference(
            capacity: 1 << 35, hits: 27254, hitBytes: 2_940_502_807_362, evictions: 172_439,
            residentItems: 307, residentBytes: 33_887_625_696),
        Reference(
            capacity: 1 << 36, hits: 53740, hitBytes: 5_856_418_497_143, evictions: 145_633,
            residentItems: 627, residentBytes: 68_653_325_715),
    ]

    @Test func theTraceBeginsAsItShould() {
        let first = EvictionTrace.skewed(seed: 42, count: 5).map { [Int64($0.number), $0.size] }
        #expect(
            first == [
                [1583, 16460], [259, 33382], [249, 1_073_742_236], [916, 33037], [1010, 268_436_447],
            ])
    }

    /// ``PolicyModelTests`` compare the policies with a model of our own, in every run.
    @Test(
        .enabled(if: TestRun.isLong, "Takes half a minute: PREFETCHCACHE_LONG_TESTS."),
        arguments: references)
    func leastRecentUseIsExact(_ reference: Reference) throws {
        #expect(try replayed(reference) == reference.result)
    }

    private func replayed(_ reference: Reference) throws -> ReplayTally {
        let container = try TemporaryContainer()
        var simulation = try RequestReplay(capacity: reference.capacity, .lru, in: container.areas())
        for request in EvictionTrace.skewed(seed: 42, count: Self.requests) {
            try simulation.request(request.key, size: request.size)
        }
        return simulation.tally
    }
}
