import PrefetchCaching
import Testing

@testable import cachectl

@Suite struct WatchEventTests {
    private func texts(_ old: CacheSample, _ new: CacheSample) -> [String] {
        WatchEvent.events(from: old, to: new).map(\.text)
    }

    @Test func nothingHappensBetweenTwoLooksThatAreTheSame() throws {
        #expect(try texts(.sample(["a"]), .sample(["a"], second: 1)).isEmpty)
    }

    @Test func storesAreNamed() throws {
        let old = try CacheSample.sample(["a"])
        #expect(
            try texts(old, .sample(["a", "b"], second: 1) { $0.figures[.stored] = 1 }) == [
                "stored 1 item (1.0 KiB): b"
            ]
        )
        #expect(
            try texts(old, .sample(["a", "b", "c", "d", "e"]) { $0.figures[.stored] = 4 })
                == ["stored 4 items (4.0 KiB): b, c, d, …"])
    }

    @Test func evictionsAndOpensAreToldApart() throws {
        let old = try CacheSample.sample(["a", "b"])
        #expect(
            try texts(
                old,
                .sample(["b"]) {
                    $0.figures[.leftForBudget] = 1
                    $0.figures[.evictedChargedBytes] = 2048
                }) == ["evicted 1 item (2.0 KiB): a"])
        #expect(try texts(old, .sample(["a"]) { $0.figures[.opened] = 1 }) == ["opened 1 item: b"])
        // Which is which?
        let both = try CacheSample.sample([]) {
            $0.figures[.opened] = 1
            $0.figures[.leftForBudget] = 1
        }
        #expect(texts(old, both) == ["opened 1 item", "evicted 1 item (0 B)"])
    }

    @Test func aListThatIsTooLongLeavesTheNumbers() throws {
        #expect(
            try texts(.sample(nil), .sample(nil) { $0.figures[.stored] = 2000 }) == ["stored 2000 items"])
    }

    @Test func refusalsAreCountedByReason() throws {
        let old = try CacheSample.sample { $0.figures[.refusedUnderPressure] = 2 }
        let new = try CacheSample.sample {
            $0.figures[.refusedUnderPressure] = 2; $0.figures[.refusedOverBudget] = 1;
            $0.figures[.refusedDisabled] = 2
        }
        #expect(texts(old, new) == ["refused 2 items (disabled)", "refused 1 item (overBudget)"])
    }

    @Test func levelsBudgetsAndDamageAreTold() throws {
        let new = try CacheSample.sample {
            $0.pressure = .low
            $0.budgetBytes = 1 << 20
            $0.quarantinedItems = 1
        }
        #expect(
            try texts(.sample(), new)
                == ["quarantined 1 item as damaged", "pressure is now low", "the budget is now 1.0 MiB"])
    }

    @Test func countersThatFellAreThoseOfANewCatalog() throws {
        let old = try CacheSample.sample { $0.figures[.stored] = 9 }
        #expect(
            try texts(old, .sample(["a"]) { $0.figures[.stored] = 1 }) == [
                "the catalog was rebuilt from 1 item"
            ])
    }

    @Test func namesAreHarmless() throws {
        let new = try CacheSample.sample(["k\u{1B}[2J\u{202E}"]) {
            $0.figures[.stored] = 1
        }
        let all = try texts(.sample(), new).joined()
        #expect(all.contains(#"k\u{1B}[2J\u{202E}"#))
        #expect(!all.unicodeScalars.contains { $0.isTerminalHazard })
    }
}
