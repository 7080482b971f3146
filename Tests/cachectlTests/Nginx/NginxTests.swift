import Foundation
import HTTPTestServer
import Testing

/// The tests that need nginx, one after the other: what they watch is a process in the middle of its work.
@Suite(
    .serialized, .enabled(if: Nginx.program != nil, "nginx is missing; '.ci/setup --servers' installs it."))
enum ServerTests {}

extension ServerTests {
    /// Downloads from a real server: ranges, conditions, limited rates.
    @Suite struct NginxTests {
        private let nginx: Nginx
        private let container: Container
        private let content = noise(40 << 20, seed: 1)

        init() throws {
            nginx = try Nginx()
            container = try Container()
            try content.write(to: nginx.files.appending(path: "film.mp4"))
        }

        /// Kills a download when half of it is there.
        private func interrupt(_ signal: Int32) throws -> RunningTool {
            let tool = try RunningTool(
                ["fetch", "--json", "--key", "film", nginx.url("film.mp4", isSlow: true)], in: container)
            #expect(try tool.wait { $0.completedBytes ?? 0 > content.count / 2 })
            tool.send(signal)
            return tool
        }

        private func fetchTheRest() async throws -> [FetchEvent] {
            let outcome = try await container.cachectl(
                "fetch", "--json", "--key", "film", nginx.url("film.mp4"))
            #expect(outcome.status == 0, "\(outcome.errors)")
            return try FetchEvent.all(in: outcome.output)
        }

        @Test(arguments: [(SIGINT, 130), (SIGTERM, 143)] as [(Int32, Int32)])
        func aSignalKeepsWhatIsThereAndSaysSo(_ signal: Int32, _ code: Int32) async throws {
            let tool = try interrupt(signal)
            // As `timeout` does, which signals the process and then its group.
            tool.send(signal)
            var last: FetchEvent?
            while let event = try tool.nextEvent() { last = event }
            #expect(tool.outcome() == (code, false))
            #expect(last?.outcome == "cancelled")
            #expect(last?.exitCode == code)
            let kept = try #require(last?.keptBytes)
            #expect(kept >= content.count / 2 - 4 << 20)
            #expect(try await fetchTheRest().contains { $0.event == "resumed" && $0.completedBytes == kept })
            #expect(try await container.cachectl("cat", "film").output == content)
        }

        @Test func aFileThatChangedMeanwhileIsFetchedFromItsStart() async throws {
            #expect(try interrupt(SIGKILL).outcome().wasKilled)
            let new = noise(40 << 20, seed: 2)
            let file = nginx.files.appending(path: "film.mp4")
            try new.write(to: file)
            // Another second, which nginx makes its entity tags of.
            try FileManager.default.setAttributes(
                [.modificationDate: Date(timeIntervalSinceNow: -3600)], ofItemAtPath: file.path)
            #expect(try await !fetchTheRest().contains { $0.event == "resumed" })
            #expect(try await container.cachectl("cat", "film").output == new)
            let last = try #require(nginx.stop().last)
            // The range was asked for, and `If-Range` made the answer a whole one.
            #expect(last.start > 0)
            #expect(last.status == 200)
            #expect(last.sent == Int64(new.count))
        }

        @Test func twoProcessesFetchEachFileOnce() throws {
            let names = (0..<200).map { "\($0).txt" }
            for name in names { try Data(name.utf8).write(to: nginx.files.appending(path: name)) }
            let list = nginx.files.appending(path: "list")
            // As some editors write it.
            let text = "\u{FEFF}" + names.map { nginx.url($0) }.joined(separator: "\n")
            try Data(text.utf8).write(to: list)
            let tools = try (0..<2).map { _ in
                try RunningTool(["fetch", "--quiet", "--from-file", list.path], in: container)
            }
            for tool in tools { #expect(tool.outcome().status == 0) }
            let fetched = nginx.stop().filter { $0.status == 200 }.map(\.name)
            #expect(fetched.count == names.count)
            #expect(Set(fetched) == Set(names))
        }
    }
}
