import Foundation
import Testing

@testable import PrefetchCaching
@testable import cachectl

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

@Suite struct WatchTests {
    private static let enter = "\u{1B}[?1049h"
    private static let leave = "\u{1B}[?25h\u{1B}[?1049l"

    let container: Container

    init() throws {
        container = try Container()
    }

    private func watch(_ arguments: String..., environment: [String: String] = [:]) throws -> PseudoTerminal {
        try PseudoTerminal(["watch"] + arguments, environment: environment, in: container)
    }

    @Test func withoutATerminalThereIsAnObjectPerLook() async throws {
        try await container.succeed("put", "k", "-", "--source", "feed", input: text)
        let outcome = try await container.succeed("watch", "--count", "2", "--interval", "100ms")
        let objects = try outcome.output.split(separator: UInt8(ascii: "\n")).map {
            try #require(JSONSerialization.jsonObject(with: $0) as? [String: Any])
        }
        #expect(objects.count == 2)
        for object in objects {
            #expect(
                Set(object.keys) == [
                    "schemaVersion", "timeMilliseconds", "volume", "statistics", "sources", "events",
                ])
            #expect((object["statistics"] as? [String: Any])?["items"] as? Int == 1)
            #expect((object["sources"] as? [[String: Any]])?.first?["source"] as? String == "feed")
        }
    }

    @Test func whatAnotherProcessDoesIsSeen() async throws {
        let terminal = try watch("--json", "--interval", "100ms")
        try terminal.wait(for: "\"events\":[]")
        try await container.succeed("put", "the key", "-", input: text)
        try terminal.wait(for: #""event":"stored","keys":["the key"]"#)
        try await container.succeed("evict", "--all")
        try terminal.wait(for: #""event":"evicted""#)
        #expect(!terminal.written.contains("\u{1B}"))
        terminal.send(SIGTERM)
        #expect(try terminal.outcome() == 143)
    }

    @Test
    func aReaderThatGoesAwayEndsItInSilence() throws {
        let outcome = try container.shell(
            #"{ "$CACHECTL" watch --interval 60m --container "$CONTAINER"; echo $? >&2; } | head -1 >/dev/null"#
        )
        #expect(outcome.errors == "0\n")
    }

    @Test func theTerminalIsRestoredAfterQ() throws {
        let terminal = try watch("--interval", "60m")
        let before = terminal.localModes
        try terminal.wait(for: "so far")
        #expect(terminal.localModes & tcflag_t(ICANON | ECHO) == 0)
        #expect(terminal.written.hasPrefix(Self.enter))
        #expect(terminal.written.contains("budget"))
        try terminal.type("xq")
        #expect(try terminal.outcome() == 0)
        #expect(terminal.written.hasSuffix(Self.leave))
        #expect(terminal.localModes == before)
    }

    @Test(arguments: [(SIGINT, 130), (SIGHUP, 129)] as [(Int32, Int32)])
    func theTerminalIsRestoredAfterASignal(_ signal: Int32, _ status: Int32) throws {
        let terminal = try watch("--interval", "60m")
        let before = terminal.localModes
        try terminal.wait(for: "so far")
        terminal.send(signal)
        #expect(try terminal.outcome() == status)
        #expect(terminal.written.hasSuffix(Self.leave))
        #expect(terminal.localModes == before)
    }

    @Test func whileItIsStoppedTheTerminalIsAsBefore() throws {
        let terminal = try watch("--interval", "60m")
        let before = terminal.localModes
        try terminal.wait(for: "so far")
        terminal.send(SIGTSTP)
        try terminal.wait(for: Self.leave)
        try terminal.waitUntilStopped(in: container.folder)
        #expect(terminal.localModes == before)
        terminal.forgetWritten()
        terminal.send(SIGCONT)
        try terminal.wait(for: "so far")
        #expect(terminal.written.hasPrefix(Self.enter))
        try terminal.type("q")
        #expect(try terminal.outcome() == 0)
    }

    @Test func theTerminalIsRestoredBeforeAnErrorIsTold() throws {
        let terminal = try watch("--interval", "100ms")
        let before = terminal.localModes
        try terminal.wait(for: "so far")
        try Data("{".utf8).write(
            to: container.root.appending(
                path: "Library/Application Support/PrefetchCache/configuration.json"))
        #expect(try terminal.outcome() != 0)
        let end = try #require(terminal.written.range(of: Self.leave))
        #expect(terminal.written[end.upperBound...].hasPrefix("cachectl: error: "))
        #expect(terminal.localModes == before)
    }

    @Test func aNewSizeIsDrawnAtOnce() throws {
        let terminal = try watch("--interval", "60m")
        try terminal.wait(for: "q quits")
        terminal.forgetWritten()
        terminal.resize(columns: 20, lines: 3)
        try terminal.wait(for: "\u{1B}[J")
        #expect(!terminal.written.contains("q quits"))
        #expect(terminal.written.split(separator: "\r\n", omittingEmptySubsequences: false).count == 3)
        try terminal.type("q")
        #expect(try terminal.outcome() == 0)
    }

    @Test func aTerminalThatCanDoNothingGetsObjects() throws {
        let terminal = try watch("--count", "1", environment: ["TERM": "dumb"])
        #expect(try terminal.outcome() == 0)
        #expect(terminal.written.hasPrefix("{"))
    }
}

/// What is shown, by itself.
@Suite struct WatchScreenTests {
    private func lines(
        _ entries: [JournalEntry] = [], _ sources: [SourceUsage] = [], title: String = "cachectl ./AppData",
        columns: Int = 80, lines: Int = 24, _ change: (inout CacheStatistics) -> Void = { _ in }
    ) -> [String] {
        let sample = CacheSample.sample(second: 3661, sources: sources, change)
        return WatchScreen(title: title, interval: Interval(.seconds(1)), sample: sample, recent: entries)
            .lines(TerminalSize(columns: columns, lines: lines))
    }

    @Test func everythingIsShownTheNewestFirst() {
        let sources: [SourceUsage] = [
            .sample("feeds.example.org", items: 12, charged: 3 << 20), .sample("", charged: 1 << 20),
        ]
        let entries: [JournalEntry] = [
            .sample(.stored, "a", second: 3660), .sample(.left, "b", "budget", second: 3661),
        ]
        let shown = lines(entries, sources) {
            $0.items = 13
            ($0.contentBytes, $0.storedBytes, $0.chargedBytes) = (8 << 20, 4 << 20, 4 << 20)
            $0.figures[.stored] = 20
            $0.figures[.refusedUnderPressure] = 2
            $0.figures[.refusedOverBudget] = 1
            ($0.partials, $0.partialBytes) = (1, 1 << 20)
        }
        #expect(
            shown == [
                "cachectl ./AppData                               01:01:01 UTC, every 1s, q quits", "",
                "budget    [####------] 40 %, 4.0 MiB of 10 MiB",
                "pressure  normal, 40 GiB of 100 GiB available",
                "items     13, 8.0 MiB as 4.0 MiB; 1 interrupted (1.0 MiB)",
                "so far    20 stored, 0 opened, 0 evicted, 3 refused; 0 hits, 0 missed", "", "SOURCES",
                "feeds.example.org  12  3.0 MiB", "(none)              1  1.0 MiB", "", "RECENT",
                "1970-01-01T01:01:01Z  left           1000 B  b  evicted for the budget, never us",
                "1970-01-01T01:01:00Z  stored         1000 B  a",
            ])
        #expect(
            lines { $0.pressure = .critical }[3]
                == "pressure  critical, 40 GiB of 100 GiB available; nothing is admitted")
    }

    @Test func noSizeAndNoNameBreaksIt() {
        let sources = (0..<30).map { SourceUsage.sample("日本-\($0)\u{1B}[31m\u{202E}\n", charged: .max >> $0) }
        let entries = (0..<50).map { JournalEntry.sample(.refused, "key \($0)\u{1B}", "r\u{9B}") }
        for columns in [0, 1, 2, 7, 20, 41, 60, 61, 80, 300] {
            for count in [0, 1, 2, 5, 8, 9, 10, 24, 200] {
                let shown = lines(entries, sources, title: "t\u{1B}c", columns: columns, lines: count) {
                    $0.chargedBytes = .max
                }
                #expect(shown.count <= count)
                #expect(shown.allSatisfy { $0.columns <= columns })
                #expect(!shown.joined().unicodeScalars.contains { $0.isTerminalHazard })
                if count == 24, columns > 20 {
                    #expect(shown.contains("SOURCES") && shown.contains("RECENT"))
                }
            }
        }
    }

    @Test func samplesAreAnIntervalApartUnlessTheyTakeLong() {
        #expect(Watch.pause(.seconds(1), after: .milliseconds(300)) == .milliseconds(700))
        #expect(Watch.pause(.seconds(1), after: .seconds(3)) == .seconds(3))
    }

    // MARK: In JSON

    private func events(_ entries: [JournalEntry]) throws -> [String] {
        try WatchEvent.events(of: entries).map { try JSON.text(of: $0.json, isPretty: false) }
    }

    @Test func everyKindIsTold() throws {
        let told: [(JournalEntry, String?)] = [
            (.sample(.stored, "a"), #"{"bytes":1024,"count":1,"event":"stored","keys":["a"]}"#),
            (.sample(.opened, "a", "opened"), #"{"count":1,"event":"opened","keys":["a"]}"#),
            (.sample(.read, "a"), nil), (.sample(.missed, "a"), nil), (.sample(.reopened, "a"), nil),
            (.sample(.delivered, "a"), #"{"count":1,"event":"delivered","keys":["a"]}"#),
            (
                .sample(.left, "a", "budget"),
                #"{"bytes":1024,"count":1,"detail":"budget","event":"evicted","keys":["a"]}"#
            ),
            (.sample(.left, "a", "replaced"), nil),
            (.sample(.left, "a", "damaged"), #"{"count":1,"event":"damaged","keys":["a"]}"#),
            (.sample(.left, "a", "purged"), #"{"bytes":1024,"count":1,"event":"purged","keys":["a"]}"#),
            (
                .sample(.refused, "a", "disabled"),
                #"{"count":1,"detail":"disabled","event":"refused","keys":["a"]}"#
            ),
            (.sample(.pressure, "", "low"), #"{"detail":"low","event":"pressure"}"#),
            (
                JournalEntry(time: 0, kind: .budget, chargedBytes: 1 << 20),
                #"{"bytes":1048576,"event":"budget"}"#
            ),
            (JournalEntry(time: 0, kind: .rebuilt, count: 3), #"{"count":3,"event":"rebuilt"}"#),
            (
                JournalEntry(time: 0, kind: .itemsLost, count: 3, source: "s"),
                #"{"count":3,"event":"purged"}"#
            ),
            (JournalEntry(time: 0, kind: .entriesLost, count: 3), #"{"count":3,"event":"lost"}"#),
        ]
        for (entry, text) in told { #expect(try events([entry]) == (text.map { [$0] } ?? []), "\(entry)") }
        #expect(Set(told.map(\.0.kind)) == Set(JournalEntry.Kind.allCases))
    }

    @Test func severalOfOneKindAndReasonAreOne() throws {
        #expect(
            try events(["a", "b", "c", "d"].map { .sample(.stored, $0) }) == [
                #"{"bytes":4096,"count":4,"event":"stored","keys":["a","b","c"]}"#
            ])
        let two = try events([
            .sample(.left, "a", "budget"), .sample(.left, "c", "pressure"), .sample(.left, "d", "budget"),
        ])
        #expect(two.count == 2 && two[0].contains(#""count":2,"detail":"budget""#))
        #expect(try events([.sample(.pressure, "", "low"), .sample(.pressure, "", "low")]).count == 2)
        let entries = [Int64.max, .max, .min, -1].map {
            JournalEntry(time: $0, kind: .left, count: $0, reason: "budget", chargedBytes: $0)
        }
        #expect(try events(entries).count == 1, "numbers of a damaged journal")
        for entry in entries { #expect(!entry.line.isEmpty) }
    }
}
