import Foundation
import Testing

@testable import PrefetchCaching
@testable import cachectl

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

@Suite struct EventsTests {
    let container: Container

    init() throws {
        container = try Container()
    }

    private func events(_ arguments: [String]) async throws -> String {
        let outcome = try await container.cachectl(["events"] + arguments)
        #expect(outcome.status == 0 && outcome.errors.isEmpty)
        return outcome.text
    }

    /// The lines without their times.
    private func lines(_ arguments: String...) async throws -> [String] {
        try await events(arguments).split(separator: "\n").map { line in
            #expect(line.wholeMatch(of: /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ  .*/) != nil, "\(line)")
            return String(line.dropFirst(22))
        }
    }

    @Test func oneLineTellsWhatHappenedToWhichItemAndWhy() async throws {
        for key in ["opened", "evicted"] {
            try await container.succeed(
                "put", key, "-", "--source", "feed", "--to", "documents", input: noise(5000, seed: 1))
        }
        try await container.succeed("open", "opened")
        try await container.succeed("evict", "--all")
        try await container.succeed("configure", "--storing", "off")
        #expect(try await container.cachectl("put", "refused", "-", input: text).status == 75)
        let told = try await lines("--kind", "stored,opened,left,refused")
        #expect(
            told == [
                "stored        4.9 KiB  opened  [feed]", "stored        4.9 KiB  evicted  [feed]",
                "opened        4.9 KiB  opened  [feed]  the user's file now, for the first use",
                "left          4.9 KiB  evicted  [feed]  evicted on request, never used",
                "refused                refused  storing is switched off",
            ])
        #expect(try await lines("--key", "evicted") == [told[1], told[3]])
        #expect(try await lines("--source", "feed", "--kind", "opened") == [told[2]])
        #expect(try await lines("--since", "0s") == [])
        #expect(try await lines("--since", "1h", "--kind", "left") == [told[3]])
        #expect(try await lines("--kind", "evicted,refused") == [told[3], told[4]])
        let silent = try await container.cachectl("events", "--key", "nothing")
        #expect(silent.status == 0 && silent.output.isEmpty)
        #expect(silent.errors == "cachectl: no event names 'nothing'\n")
    }

    @Test func everyKindAndReasonHasWords() {
        for kind in JournalEntry.Kind.allCases where ![.stored, .delivered, .read, .missed].contains(kind) {
            #expect(!JournalEntry.sample(kind, "k", "r").why.isEmpty, "\(kind)")
        }
        let reasons = Departure.allCases.map { JournalEntry.sample(.left, "k", $0.rawValue).why }
        #expect(Set(reasons).count == reasons.count)
        for reason in Refusal.reasons.map(\.reason) {
            #expect(JournalEntry.sample(.refused, "k", reason).why != reason, "\(reason)")
        }
    }

    @Test func namesAreHarmless() async throws {
        try await container.succeed("put", "k\u{1B}[2J\u{202E}", "-", "--source", "s\u{9B}", input: text)
        for arguments in [[], ["--json"]] {
            let printed = try await events(arguments)
            #expect(!printed.unicodeScalars.contains { $0.isTerminalHazard && $0 != "\n" })
            #expect(printed.contains(#"[2J\u"#))
        }
    }

    @Test func whatAnotherProcessDoesIsFollowed() async throws {
        try await container.succeed("put", "before", "-", input: text)
        let tool = try RunningTool(["events", "--follow", "--kind", "stored,evicted"], in: container)
        func next() -> Substring { String(decoding: tool.nextLine() ?? Data(), as: UTF8.self).dropFirst(22) }
        #expect(next() == "stored        204 KiB  before")
        try await container.succeed("put", "later", "-", input: text)
        #expect(next() == "stored        204 KiB  later")
        try await container.succeed("evict", "later")
        #expect(next() == "left          204 KiB  later  evicted by key, never used")
        tool.send(SIGTERM)
        #expect(tool.outcome() == (143, false))
    }

    @Test func aReaderThatGoesAwayEndsItInSilence() async throws {
        try await container.succeed("put", "k", "-", input: text)
        let outcome = try container.shell(
            #"{ "$CACHECTL" events --follow --container "$CONTAINER"; echo $? >&2; } | head -1 >/dev/null"#)
        #expect(outcome.errors == "0\n")
    }
}
