import Foundation
import Testing

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

    @Test func withoutATerminalThereIsAnObjectPerLook() throws {
        try container.succeed("put", "k", "-", "--source", "feed", input: text)
        let outcome = try container.succeed("watch", "--count", "2", "--interval", "100ms")
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

    @Test func whatAnotherProcessDoesIsSeen() throws {
        let terminal = try watch("--json", "--interval", "100ms")
        try terminal.wait(for: "\"events\":[]")
        try container.succeed("put", "the key", "-", input: text)
        try terminal.wait(for: #""event":"stored","keys":["the key"]"#)
        try container.succeed("evict", "--all")
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

    @Test(arguments: [(SIGINT, 130), (SIGTERM, 143), (SIGHUP, 129)] as [(Int32, Int32)])
    func theTerminalIsRestoredAfterASignal(_ signal: Int32, _ status: Int32) throws {
        let terminal = try watch("--interval", "60m")
        let before = terminal.localModes
        try terminal.wait(for: "so far")
        terminal.send(signal)
        #expect(try terminal.outcome() == status)
        #expect(terminal.written.hasSuffix(Self.leave))
        #expect(terminal.localModes == before)
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

    @Test func coloursAreLeftOutWhereNobodyWantsThem() throws {
        for (environment, isColoured) in [([:], true), (["NO_COLOR": ""], true), (["NO_COLOR": "1"], false)] {
            let terminal = try watch("--count", "1", environment: environment)
            #expect(try terminal.outcome() == 0)
            #expect(terminal.written.contains("\u{1B}[32m") == isColoured)
        }
    }

    @Test func aTerminalThatCanDoNothingGetsObjects() throws {
        let terminal = try watch("--count", "1", environment: ["TERM": "dumb"])
        #expect(try terminal.outcome() == 0)
        #expect(terminal.written.hasPrefix("{"))
    }

    @Test(arguments: [["--interval", "1"], ["--interval", "0s"], ["--count", "0"], ["--count", "-1"]])
    func wrongArgumentsAreRefused(_ arguments: [String]) throws {
        #expect(try container.cachectl("watch", arguments[0], arguments[1]).status == 64)
    }
}
