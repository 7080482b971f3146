import Foundation
import HTTPTestServer
import Testing

@testable import PrefetchCaching
@testable import PrefetchDownloading
@testable import cachectl

/// The JSON of every command, line by line: names, order, layout, and all values that are the same on any machine.
/// Scripts rely on it. Names may be added; any other change needs a new `schemaVersion`.
@Suite struct GoldenJSONTests {
    let container: Container

    init() async throws {
        container = try Container()
        try await container.succeed("configure", "--budget", "8MiB")
    }

    /// What was typed and printed, with everything that differs from run to run written as `#`.
    private final class Transcript {
        private(set) var text = ""
        private let container: Container
        /// Replacements of text that differs from run to run, such as the address of a server.
        var names: [(String, String)] = []

        init(in container: Container) {
            self.container = container
        }

        /// - Parameter hidesNumbers: Whether numbers depend on the volume or on SQLite.
        func run(_ arguments: String..., input: String = "", hidesNumbers: Bool = false) async throws {
            let outcome = try await container.cachectl(arguments + ["--json"], input: Data(input.utf8))
            var lines = "$ \(arguments.joined(separator: " "))\n" + outcome.text + outcome.errors
            if outcome.status != 0 { lines += "exit \(outcome.status)\n" }
            for (text, name) in names + [
                (container.root.path, "CONTAINER"), (container.folder.url.path + "/", ""),
            ] {
                lines = lines.replacing(text, with: name)
            }
            text += lines.replacing(#/"(\w+)" ?: ?(-?[0-9.]+)/#) { match in
                let isHidden = hidesNumbers || Self.volatile.contains(String(match.1))
                return isHidden && match.1 != "schemaVersion"
                    ? match.0.dropLast(match.2.count) + "#" : match.0
            }
        }

        private static let volatile: Set = [
            "storedAtMilliseconds", "keptAtMilliseconds", "expiresAtMilliseconds", "openedAtMilliseconds",
            "lastUseMilliseconds", "timeMilliseconds", "waitMilliseconds", "catalogBytes", "seconds",
            "lastUse", "fromMilliseconds", "toMilliseconds", "keptFreeBytes",
        ]
    }

    /// Compares line by line with a file of `Golden`, so that a failure shows the line. A file that is missing is
    /// written.
    private func expect(
        _ transcript: String, _ name: String, sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        // Prose is for people, and may be improved.
        let prose = #/("(?:message|refusalMessage|explanation|fix|guideline)" ?: ?")(?:[^"\\]|\\.)*"/#
        // A probability falls from one millisecond to the next.
        let transcript = transcript.replacing(prose) { "\($0.1)…\"" }
            .replacing(#/("chance" : )[0-9.]+/#) { "\($0.1)#" }
        let file = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Golden/\(name).txt")
        guard FileManager.default.fileExists(atPath: file.path) else {
            try Data(transcript.utf8).write(to: file)
            Issue.record("\(name).txt was missing, and was written", sourceLocation: sourceLocation)
            return
        }
        let golden = String(decoding: try Data(contentsOf: file), as: UTF8.self)
        let lines = transcript.split(separator: "\n", omittingEmptySubsequences: false)
        let expected = golden.split(separator: "\n", omittingEmptySubsequences: false)
        for (line, expected) in zip(lines, expected) where line != expected {
            Issue.record("\(line) instead of \(expected)", sourceLocation: sourceLocation)
        }
        #expect(lines.count == expected.count, "\(transcript)", sourceLocation: sourceLocation)
    }

    @Test func ofItems() async throws {
        let transcript = Transcript(in: container)
        try await transcript.run(
            "put", "a", "-", "--encoding", "identity", "--source", "feed", input: "content a")
        try await transcript.run(
            "put", "b", "-", "--encoding", "identity", "--to", "documents", "--folder", "Podcasts/Daily",
            "--name", "n.txt", "--priority", "0.5", "--expires", "7d", "--backup", "exclude",
            input: "content b")
        try await transcript.run("list")
        try await transcript.run("show", "a")
        try await transcript.run("show", "b")
        try await transcript.run("open", "b")
        try await transcript.run("open", "b", "missing", "a")
        try await transcript.run("show", "b")
        try await transcript.run("put", "b", "-", input: "content b")
        try await transcript.run("put", "c", "-", "--requested", "--to", "documents", input: "content c")
        try FileManager.default.removeItem(at: container.root.appending(path: "Documents/c"))
        try await transcript.run("list", "--opened")
        try await transcript.run("forget", "c")
        try await transcript.run("cat", "missing")
        try await transcript.run("stats", hidesNumbers: true)
        try await transcript.run("trim")
        try expect(transcript.text, "items")
    }

    @Test func ofEvents() async throws {
        let transcript = Transcript(in: container)
        for key in ["opened", "evicted", "left"] {
            try await container.succeed(
                "put", key, "-", "--encoding", "identity", "--source", "feed", "--to", "documents",
                input: Data("content".utf8))
        }
        try await container.succeed("cat", "evicted")
        try await container.succeed("open", "opened")
        try await container.succeed("open", "opened")
        try await container.succeed("evict", "evicted")
        #expect(try await container.cachectl("cat", "evicted").status == 66)
        #expect(try await container.cachectl("put", "opened", "-", input: Data("content".utf8)).status == 75)
        try await transcript.run("events")
        try await transcript.run("events", "--kind", "left,missed", "--source", "feed", "--since", "1h")
        try await transcript.run("events", "--key", "nothing")
        try await transcript.run("events", "--kind", "sold")
        try expect(transcript.text, "events")
    }

    @Test func ofPartials() async throws {
        try await container.keepPartial()
        let transcript = Transcript(in: container)
        try await transcript.run("list", "--partials")
        try expect(transcript.text, "partials")
    }

    @Test func ofMaintenance() async throws {
        for key in ["a", "b", "c", "d", "e"] {
            try await container.succeed(
                "put", key, "-", "--encoding", "identity", "--backup", "exclude", "--to", "documents",
                input: Data("content \(key)".utf8))
        }
        let transcript = Transcript(in: container)
        try await container.succeed("open", "d", "e")
        try container.write("changed", to: "Documents/e")
        let list = try await container.list()
        let damaged = try #require(list.first?["path"] as? String)
        try container.write("x", to: damaged)
        try await transcript.run("verify")
        try await transcript.run("verify", "--repair", "--sample", "9", "--seed", "7")
        let emptied = try #require(list.dropFirst().first?["path"] as? String)
        try container.write("", to: emptied)
        try await transcript.run("repair", "--dry-run")
        try await transcript.run("repair")
        try await transcript.run("purge", "--excluded", "--older-than", "0s", "--dry-run")
        try await transcript.run("purge", "--excluded", "--older-than", "0s")
        try await transcript.run("evict", "c", "--dry-run")
        try await transcript.run("evict", "--all", "--dry-run")
        try await transcript.run("evict", "--bytes", "1")
        try await transcript.run("evict", "--source", "nothing")
        try await transcript.run("evict", "missing")
        try expect(transcript.text, "maintenance")
    }

    @Test func ofMigrations() async throws {
        let transcript = Transcript(in: container)
        let old = container.folder.url.appending(path: "old")
        try FileManager.default.createDirectory(at: old, withIntermediateDirectories: true)
        for name in ["a", "b"] { try Data(name.utf8).write(to: old.appending(path: name)) }
        try FileManager.default.createSymbolicLink(
            atPath: old.appending(path: "link").path, withDestinationPath: "a")
        try Data([0]).write(to: old.appending(path: ".hidden"))
        try await transcript.run("migrate", "--from", old.path, "--as", "documents", "--dry-run")
        try await transcript.run("migrate", "--from", old.path, "--as", "cached", "--key-prefix", "p/")
        try await transcript.run(
            "migrate", "--dry-run", "--from", container.folder.file("missing").path, "--as", "cached")
        try expect(transcript.text, "migrations")
    }

    @Test func ofTheVolume() async throws {
        let transcript = Transcript(in: container)
        try await transcript.run("configure")
        try await transcript.run("configure", "--largest", "1MiB", "--policy", "value", "--storing", "off")
        try await transcript.run("configure", "--cap", "2MiB", hidesNumbers: true)
        try expect(transcript.text, "volume")
    }

    @Test func ofTheInventory() async throws {
        try await container.succeed(
            "put", "a", "-", "--encoding", "identity", "--source", "feed", input: Data("content a".utf8))
        try await container.succeed(
            "put", "film", "-", "--encoding", "identity", "--to", "documents", input: Data("content".utf8))
        try await container.succeed("open", "film")
        try container.write("left", to: "Library/Caches/PrefetchCache/junk")
        let transcript = Transcript(in: container)
        try await transcript.run("inventory", "--kind", "item", "--kind", "promoted", hidesNumbers: true)
        try await transcript.run("inventory", "--files", "--kind", "item", hidesNumbers: true)
        try await transcript.run("inventory", "--files", "--area", "documents", hidesNumbers: true)
        try await transcript.run("inventory", "--check", hidesNumbers: true)
        try await transcript.run("inventory", "--rules")
        try expect(transcript.text, "inventory")
    }

    @Test func ofDownloads() async throws {
        let resource = TestResource(Data("content".utf8))
        let server = try HTTPTestServer { $0.target == "/gone" ? TestAnswer(404) : resource.answer(to: $0) }
        let transcript = Transcript(in: container)
        transcript.names = [("\(server.url("/").absoluteString.dropLast())", "SERVER")]
        let (url, gone) = (server.url("/a").absoluteString, server.url("/gone").absoluteString)
        try await transcript.run("fetch", url)
        try await transcript.run("fetch", url)
        try await transcript.run("fetch", url, "--keep")
        try await transcript.run("open", url)
        try await transcript.run("fetch", url)
        try await transcript.run("fetch", server.url("/b").absoluteString, "--requested", "--to", "documents")
        try await transcript.run("fetch", gone, "--tries", "1")
        try await container.succeed("configure", "--storing", "off")
        try await transcript.run("fetch", server.url("/c").absoluteString)
        // How often progress is reported depends on the network: see `ofRareEvents`.
        let lines = transcript.text.split(separator: "\n").filter { !$0.contains(#""event":"progress""#) }
        try expect(lines.joined(separator: "\n"), "downloads")
    }

    /// What a test can hardly make a server, a volume and a second process do.
    @Test func ofRareEvents() throws {
        let target = try FetchTarget("https://user:password@example.org/a", key: "k")
        let error = DownloadError(
            key: "k", origin: "https://example.org", reason: .stalled(.seconds(30)), keptBytes: 0)
        var lines = try [
            json(.resumed(at: 5), of: target), json(.retrying(after: .milliseconds(1500), error), of: target),
            json(.finished(.cancelled(keptBytes: 7)), of: target),
            json(.finished(.failed(error)), of: target),
            json(.progress(DownloadProgress(completedBytes: 1, totalBytes: 2)), of: target),
            json(.progress(DownloadProgress(completedBytes: 1, totalBytes: nil)), of: target),
        ]
        let model = CapacityModel()
        let state = VolumeState(
            total: 200 << 30, available: 70 << 30, evictable: 2 << 30, purgeable: 1 << 30)
        let capacity = model.capacity(of: state, cap: 7 << 30)
        let report = CapacityReport(
            capacity: capacity, pressure: .low, configuredBudget: .automaticUpTo(.gibibytes(7)),
            budgetBytes: 11, ceilingBytes: 12, largestItemBytes: 13, chargedBytes: 1, heldBytes: 2,
            catalogBytes: 3, refusal: .pressure(.low))
        lines.append(try JSON.document(report.json(CacheConfiguration().capacityModel), isPretty: true))
        try expect(lines.joined(separator: "\n"), "rareEvents")
    }

    private func json(_ event: DownloadEvent, of target: FetchTarget) throws -> String {
        try JSON.document(event.json(of: target, nil), isPretty: false)
    }
}
