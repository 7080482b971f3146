import FileSystemTestSupport
import Foundation
import Testing

@_spi(Simulation) @testable import PrefetchCaching

/// Every policy does exactly what its model does, with sizes, capacities and requests at random.
@Suite struct PolicyModelTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let policy: EvictionPolicyChoice
        let seed: UInt64
        let capacity: Int64
        /// So many different keys are asked for.
        let keys: Int

        var testDescription: String { "\(policy), seed \(seed), \(capacity) bytes, \(keys) keys" }
    }

    static let cases = EvictionPolicyChoice.allCases.flatMap { policy in
        [
            // From one that holds a handful to one that holds most of everything.
            Case(policy: policy, seed: 1, capacity: 3_000, keys: 20),
            Case(policy: policy, seed: 2, capacity: 40_000, keys: 200),
            Case(policy: policy, seed: 3, capacity: 400_000, keys: 1_000),
            Case(policy: policy, seed: 4, capacity: 800_000, keys: 2_000),
        ]
    }

    @Test(arguments: TestRun.sample(1, of: cases))
    func aReplayAgreesWithTheModel(_ example: Case) throws {
        let container = try TemporaryContainer()
        var simulation = try RequestReplay(
            capacity: example.capacity, example.policy, in: container.areas())
        var model = ModelCache(capacity: example.capacity)
        var generator = SeededGenerator(seed: example.seed)
        let sizes = (0..<example.keys).map { _ in Int64.random(in: 0...1_000, using: &generator) }
        let keys = try (0..<example.keys).map { try ItemKey(number: $0) }
        for step in 1...25_000 {
            // Low numbers are asked for more often; each tenth request goes somewhere else at random.
            let limit = step % 10 == 0 ? example.keys : Int.random(in: 1...example.keys, using: &generator)
            let number = Int.random(in: 0..<limit, using: &generator)
            model.request(number, size: sizes[number])
            try simulation.request(keys[number], size: sizes[number])
            guard step % 4_999 == 0 else { continue }
            let residents = simulation.residentKeys
            try #require(residents == Set(model.sizes.keys.map { keys[$0].string }))
        }
        #expect(simulation.tally == model.tally)
        #expect(simulation.residentKeys == Set(model.sizes.keys.map { keys[$0].string }))
        #expect(model.tally.hits > 1_000 && model.tally.evictions > 1_000)
    }

    /// With real files, and with every store and every read in a process of its own: what a policy
    /// remembers must outlive them.
    @Test(arguments: TestRun.sample(1, of: EvictionPolicyChoice.allCases))
    func theSurvivorsAreThoseOfTheModel(_ policy: EvictionPolicyChoice) throws {
        let container = try TemporaryContainer()
        let length: Int64 = 256 << 10
        let engine = try container.engine()
        var configuration = CacheConfiguration(budget: .fixed(.mebibytes(8)))
        configuration.evictionPolicy = policy
        try engine.configure(configuration)
        try engine.close()

        let fitting = (8 << 20) / (length + (8 << 10))
        var model = ModelCache(capacity: fitting)
        var generator = SeededGenerator(seed: 6)
        for _ in 0..<400 {
            let limit = Int.random(in: 1...60, using: &generator)
            let number = Int.random(in: 0..<limit, using: &generator)
            let isHit = model.request(number, size: 1)
            let engine = try container.engine()
            let content = try engine.content(ItemKey(number: number))
            try #require((content != nil) == isHit)
            if !isHit { try engine.store(noise(Int(length), seed: UInt64(number)), ItemKey(number: number)) }
            try engine.close()
        }
        let last = try container.engine()
        #expect(Set(try last.items().map(\.key.string)) == Set(model.sizes.keys.map { "item-\($0)" }))
        #expect(try last.statistics().evictions == model.tally.evictions)
        #expect(try container.files(below: container.caches.appending(path: "items")).count == fitting)
        #expect(model.tally.hits > 50 && model.tally.evictions > 50)
    }
}
