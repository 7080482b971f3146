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
