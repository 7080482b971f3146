import PrefetchCaching
import Testing

@testable import PrefetchCaching
@testable import cachectl

@Suite struct WatchEventTests {
    private func texts(_ entries: [JournalEntry]) -> [String] { WatchEvent.events(of: entries).map(\.text) }

    @Test func everyKindIsTold() {
        let told: [(JournalEntry, String?)] = [
            (.sample(.stored, "a"), "stored 1 item (1.0 KiB): a"),
            (.sample(.opened, "a", "opened"), "opened 1 item: a"),
            (.sample(.read, "a"), nil), (.sample(.missed, "a"), nil), (.sample(.reopened, "a"), nil),
            (.sample(.delivered, "a"), "delivered 1 item: a"),
            (.sample(.left, "a", "budget"), "evicted for the budget 1 item (1.0 KiB): a"),
            (.sample(.left, "a", "pressure"), "evicted under pressure 1 item (1.0 KiB): a"),
            (.sample(.left, "a", "expired"), "expired 1 item (1.0 KiB): a"),
            (.sample(.left, "a", "request"), "evicted on request 1 item (1.0 KiB): a"),
            (.sample(.left, "a", "removed"), "removed 1 item (1.0 KiB): a"),
            (.sample(.left, "a", "replaced"), nil),
            (.sample(.left, "a", "damaged"), "quarantined 1 item as damaged: a"),
            (.sample(.left, "a", "purged"), "the system purged 1 item (1.0 KiB): a"),
            (.sample(.left, "a", "later"), "evicted 1 item (1.0 KiB): a"),
            (.sample(.refused, "a", "disabled"), "refused 1 item (disabled): a"),
            (.sample(.pressure, "", "low"), "pressure is now low"),
            (JournalEntry(time: 0, kind: .budget, chargedBytes: 1 << 20), "the budget is now 1.0 MiB"),
            (JournalEntry(time: 0, kind: .rebuilt, count: 3), "the catalog was rebuilt from 3 items"),
            (JournalEntry(time: 0, kind: .itemsLost, count: 3, source: "s"), "the system purged 3 items"),
            (JournalEntry(time: 0, kind: .entriesLost, count: 3), "3 events dropped from the journal"),
        ]
        for (entry, text) in told { #expect(texts([entry]) == (text.map { [$0] } ?? []), "\(entry)") }
        #expect(Set(told.map(\.0.kind)) == Set(JournalEntry.Kind.allCases))
    }

    @Test func severalOfOneKindAndReasonAreOneLine() {
        let keys = ["a", "b", "c", "d", "e"]
        #expect(texts(keys.map { .sample(.stored, $0) }) == ["stored 5 items (5.0 KiB): a, b, c, …"])
        #expect(
            texts([
                .sample(.left, "a", "budget"), .sample(.opened, "b", "opened"),
                .sample(.left, "c", "pressure"),
                .sample(.left, "d", "budget"), .sample(.refused, "e", "pressure"),
                .sample(.refused, "f", "disabled"),
            ]) == [
                "evicted for the budget 2 items (2.0 KiB): a, d", "opened 1 item: b",
                "evicted under pressure 1 item (1.0 KiB): c", "refused 1 item (pressure): e",
                "refused 1 item (disabled): f",
            ])
        #expect(texts([.sample(.pressure, "", "low"), .sample(.pressure, "", "low")]).count == 2)
        let times = [5, 7].map { JournalEntry.sample(.stored, "a", second: $0) }
        #expect(WatchEvent.events(of: times).map(\.time) == [7000])
    }

    @Test func namesAreHarmless() {
        let all = texts([
            .sample(.stored, "k\u{1B}[2J\u{202E}"), .sample(.refused, "r", "\u{9B}"),
            .sample(.pressure, "", "\u{9B}"),
        ]).joined()
        #expect(all.contains(#"k\u{1B}[2J\u{202E}"#))
        #expect(!all.unicodeScalars.contains { $0.isTerminalHazard })
    }

    @Test func numbersOfADamagedJournalAreHarmless() {
        let entries = [Int64.max, .max, .min, -1].map {
            JournalEntry(time: $0, kind: .left, count: $0, reason: "budget", chargedBytes: $0)
        }
        #expect(texts(entries).count == 1)
        for entry in entries { #expect(!entry.line.isEmpty) }
    }
}
