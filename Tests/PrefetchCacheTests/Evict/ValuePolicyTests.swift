import Foundation
import Testing

@_spi(Simulation) @testable import PrefetchCaching

/// What the policy makes of what it has learnt.
@Suite struct ValuePolicyTests {
    private let container = TemporaryContainer.make()
    static let day: Int64 = 86_400_000
    static let start: Int64 = 1_000 * day

    /// A simulation of 30 days in which a share of each source's items is opened, an hour after it arrives.
    private func trained(
        _ policy: EvictionPolicyChoice = .value, capacity: Int64 = 10_000, gate: Bool = false,
        in container: TemporaryContainer, opening shares: [(source: String, every: Int, size: Int64)]
    ) throws -> PrefetchSimulation {
        let simulation = try PrefetchSimulation(
            capacity: .bytes(capacity), policy: policy, usesGate: gate, warmUp: Self.start + 30 * Self.day,
            in: container.areas())
        for day in 0..<30 {
            let time = Self.start + Int64(day) * Self.day
            for (source, every, size) in shares {
                let key = try ItemKey("\(source) \(day)")
                try simulation.arrive(key, source: source, size: size, at: time)
                if every > 0, day % every == 0 { try simulation.open(key, at: time + 3_600_000) }
            }
        }
        return simulation
    }

    private let now = start + 30 * day

    /// Without knowledge the oldest goes; with it, what is opened least.
    @Test(arguments: [(EvictionPolicyChoice.lru, ["young never"]), (.value, ["old often"])])
    func whatIsOpenedMoreStaysLonger(policy: EvictionPolicyChoice, remaining: [ItemKey]) throws {
        let simulation = try trained(policy, in: container, opening: [("often", 1, 100), ("never", 0, 100)])
        try simulation.arrive("old often", source: "often", size: 5_000, at: now)
        try simulation.arrive("young never", source: "never", size: 5_000, at: now + Self.day)
        try simulation.arrive("another", source: "often", size: 5_000, at: now + Self.day + 1)
        var found: [ItemKey] = []
        for key in ["old often", "young never"] as [ItemKey] {
            let hits = simulation.result.hits
            try simulation.open(key, at: now + Self.day + 2)
            if simulation.result.hits > hits { found.append(key) }
        }
        #expect(found == remaining)
    }

    @Test func whatIsWorthLessThanWhatItWouldDisplaceIsRefused() throws {
        let simulation = try trained(in: container, opening: [("often", 1, 100), ("never", 0, 100)])
        for number in 0..<2 {
            try simulation.arrive(
                try ItemKey("often \(100 + number)"), source: "often", size: 5_000, at: now + Int64(number))
        }
        try simulation.arrive("useless", source: "never", size: 5_000, at: now + 10)
        #expect(simulation.result.wastedBytes == 5_000)
        for number in 0..<2 { try simulation.open(try ItemKey("often \(100 + number)"), at: now + 20) }
        #expect(simulation.result.hits == 2)
    }

    /// Of two sources of which as much is opened, the one whose items take less space is worth more.
    @Test func whatTakesLessSpaceStaysLonger() throws {
        let simulation = try trained(in: container, opening: [("small", 3, 10), ("large", 3, 4_000)])
        try simulation.arrive("small", source: "small", size: 10, at: now)
        try simulation.arrive("large", source: "large", size: 4_000, at: now + 1)
        for number in 0..<4 {
            try simulation.arrive(
                try ItemKey("more \(number)"), source: "large", size: 4_000, at: now + 2 + Int64(number))
        }
        try simulation.open("small", at: now + 10)
        #expect(simulation.result.hits == 1)
    }

    /// Within a source, and where sources do not differ, the order is that of use.
    @Test func whereSourcesDoNotDifferItIsLeastRecentUse() throws {
        let remaining = try [EvictionPolicyChoice.lru, .value].map { policy in
            let simulation = try trained(policy, in: container, opening: [("a", 2, 100), ("b", 2, 100)])
            let keys = try (0..<200).map { try ItemKey("item \($0)") }
            for (number, key) in keys.enumerated() {
                try simulation.arrive(
                    key, source: number % 2 == 0 ? "a" : "b", size: 400, at: now + Int64(number) * 1000)
            }
            return try keys.filter { key in
                let hits = simulation.result.hits
                try simulation.open(key, at: now + Self.day)
                return simulation.result.hits > hits
            }
        }
        #expect((10..<30).contains(remaining[0].count))
        #expect(remaining[0] == remaining[1])
    }

    /// Stored at one moment, from sources that do not differ: only the order of use tells them apart.
    @Test func itemsOfEqualWorthGoInTheOrderOfTheirUse() throws {
        let simulation = try trained(
            capacity: 1_000_000, in: container, opening: [("a", 2, 100), ("b", 2, 100)])
        let keys = (0..<8).map { "same \($0 % 2 == 0 ? "b" : "a") \($0)" }
        for (number, key) in keys.enumerated() {
            try simulation.arrive(try ItemKey(key), source: number % 2 == 0 ? "b" : "a", size: 100, at: now)
        }
        #expect(try simulation.evictionOrder().filter { $0.hasPrefix("same") } == keys)
    }

    @Test func anEmptyHistoryIsNoKnowledge() {
        let knowledge = SourceKnowledge(HistoryRows(), now: now)
        #expect(knowledge.names.isEmpty)
        #expect(knowledge.usualLength(of: "x") == nil)
        #expect(knowledge.worth(ofSource: "x", age: 0) == knowledge.worth(ofSource: "y", age: 0))
        #expect(knowledge.worth(ofSource: "x", age: 1) == knowledge.worth(ofSource: "x", age: 0))
        #expect(knowledge.worth(ofSource: "x", age: Self.day) < knowledge.worth(ofSource: "x", age: 0))
    }

    /// A source of which everything was declined so far takes as much space as any other.
    @Test func whatWasOnlyDeclinedIsWorthNoMoreThanTheRest() {
        var rows = HistoryRows()
        var stored = PrefetchFigures()
        stored[.stored] = 10
        stored[.storedBytes] = 10_000_000
        stored[.usedOfDay] = 9
        var declined = PrefetchFigures()
        declined[.declined] = 5
        rows.add(stored, day: HistoryDay.containing(now - 3 * Self.day), source: "known")
        rows.add(declined, day: HistoryDay.containing(now - 3 * Self.day), source: "declined")
        let knowledge = SourceKnowledge(rows, now: now)
        #expect(knowledge.knows("declined"))
        #expect(knowledge.usualLength(of: "declined") == 1_000_000)
        #expect(knowledge.worth(ofSource: "declined", age: 0) < knowledge.worth(ofSource: "known", age: 0))
    }

    /// SQL compares names byte for byte: what is known of one must not hide the items of the other.
    @Test func aSourceIsKnownByItsBytesAndByAsMuchOfItsNameAsIsKept() {
        let long = String(repeating: "feed", count: 50)
        var rows = HistoryRows()
        for source in ["caf\u{E9}", long] {
            var stored = PrefetchFigures()
            (stored[.stored], stored[.storedBytes]) = (10, 10_000_000)
            rows.add(stored, day: HistoryDay.containing(now - 3 * Self.day), source: SourceName(source))
        }
        let knowledge = SourceKnowledge(rows, now: now)
        #expect(knowledge.knows("caf\u{E9}") && !knowledge.knows("cafe\u{301}"))
        #expect(knowledge.usualLength(of: long) == 1_000_000)
    }

    /// Neither a forged item nor a forged history stops a process.
    @Test func impossibleNumbersAreHarmless() {
        for day in [Int32.min, -1, .max] {
            for value in [Int64.min, -1, .max] {
                var rows = HistoryRows()
                var figures = PrefetchFigures()
                for metric in PrefetchFigures.Metric.allCases { figures[metric] = value }
                rows.add(figures, day: day, source: "s")
                figures[.stored] = .max
                rows.add(figures, day: HistoryDay.containing(now), source: "s")
                let knowledge = SourceKnowledge(rows, now: now)
                #expect((60...4e7).contains(knowledge.usualAge))
                #expect(knowledge.chance(ofSource: "s", age: .max).isFinite)
                #expect(knowledge.usualLength(of: "s") ?? 1 > 0)
            }
        }
        for (storedAt, age) in [(Int64.min, Int64.max), (.max, 0), (now - 5, 5)] {
            let item = Victim(
                hash: KeyHash(high: 0, low: 0), key: "", kind: .item, chargedBytes: 0, priority: 0,
                storedAt: storedAt)
            #expect(item.age(at: now) == age)
        }
    }

    /// Items of unknown sources are weighed even if many known ones were there before them.
    @Test func strangersBehindManyKnownItemsAreFound() throws {
        let simulation = try trained(capacity: 150_000, in: container, opening: [("often", 1, 100)])
        for number in 0..<200 {
            let source = number < 150 ? "often" : "stranger \(number)"
            try simulation.arrive(
                try ItemKey("item \(number)"), source: source, size: 100, at: now + Int64(number))
        }
        let order = try simulation.evictionOrder()
        #expect(order.count == 200)
        let first = try #require(order.firstIndex { $0.hasPrefix("item 15") })
        #expect((1..<150).contains(first))
    }

    @Test(arguments: [-400, -1, 0, 1, 400, 100_000])
    func aClockThatJumpsLeavesSoundNumbers(days: Int) {
        var rows = HistoryRows()
        var figures = PrefetchFigures()
        figures[.stored] = 10
        figures[.storedBytes] = 1000
        figures[.usedOfDay] = 5
        figures[.ages] = 5
        figures[.ageLogarithms] = 5 * 8000
        rows.add(figures, day: HistoryDay.containing(now + Int64(days) * Self.day), source: "s")
        let knowledge = SourceKnowledge(rows, now: now)
        let source = knowledge.sources["s"]
        #expect(source.map { (0.0001...0.98).contains($0.openRate) } == true)
        #expect(knowledge.usualAge.isFinite && knowledge.usualAge > 0)
        for age in [0, 1, Self.day, .max] {
            let chance = knowledge.chance(ofSource: "s", age: age)
            #expect((0...1).contains(chance))
        }
    }

    @Test func theGateSavesDownloadsAndKeepsATrickle() throws {
        let simulation = try trained(
            capacity: 1_000_000, gate: true, in: container, opening: [("often", 1, 100), ("never", 0, 100)])
        for number in 0..<100 {
            let time = now + Int64(number) * 1000
            try simulation.arrive(try ItemKey("n\(number)"), source: "never", size: 100, at: time)
            try simulation.arrive(try ItemKey("o\(number)"), source: "often", size: 100, at: time)
        }
        let never = simulation.result.downloadedBytes - 10_000
        #expect((100...3_000).contains(never))
    }
}

extension PrefetchSimulation {
    /// The keys of all items, in the order in which one eviction would choose them if none of them could be removed.
    fileprivate func evictionOrder() throws -> [String] {
        try catalog.transaction { transaction in
            let policy = evictor.policy
            var order: [String] = []
            while let victim = try policy.victims(atMost: 1, passingOver: [], in: transaction).first {
                order.append(victim.key)
            }
            return order
        }
    }
}
