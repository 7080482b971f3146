import FileSystemTestSupport
import Foundation
import HTTPTestServer
import Testing

extension ServerTests {
    /// A download that the user asked for, killed again and again: ten times within 500 MB where `PREFETCHCACHE_LONG_TESTS`
    /// is set, fewer otherwise.
    @Suite struct KilledRequestTests {
        private static let bytes = TestRun.count(short: 40 << 20, long: 500 << 20)
        private static let kills = TestRun.count(short: 3, long: 10)
        /// For each kill, a chunk that is not whole and what is on its way.
        private static let mostTwice = Int64(TestRun.count(short: 3 * (4 << 20), long: 10 << 20))

        /// The same of a bundle of three files, which is a folder only when it is complete.
        @Test func littleOfABundleIsFetchedTwice() async throws {
            let nginx = try Nginx()
            let content = noise(Self.bytes / 3 * 3, seed: 2)
            let names = ["a.bin", "b.bin", "c.bin"]
            for (number, name) in names.enumerated() {
                let part = content.dropFirst(number * (Self.bytes / 3)).prefix(Self.bytes / 3)
                try part.write(to: nginx.files.appending(path: name))
            }
            let urls = names.map { nginx.url($0, isSlow: true) }
            try await kill(["--bundle", "film", "--to", "documents"] + urls, of: content, from: nginx)
        }

        @Test func littleIsFetchedTwiceAndTheFileIsThereOnce() async throws {
            let nginx = try Nginx()
            let content = noise(Self.bytes, seed: 1)
            try content.write(to: nginx.files.appending(path: "film.mp4"))
            try await kill(["--key", "film", nginx.url("film.mp4", isSlow: true)], of: content, from: nginx)
        }

        private func kill(_ arguments: [String], of content: Data, from nginx: Nginx) async throws {
            let container = try Container()
            let fetch = ["fetch", "--json", "--requested"] + arguments
            for number in 1...Self.kills {
                let tool = try RunningTool(fetch, in: container)
                let limit = Int64(Self.bytes / (Self.kills + 1) * number)
                #expect(try tool.wait { $0.completedBytes ?? 0 > limit }, "it ended before kill \(number)")
                tool.send(SIGKILL)
                #expect(tool.outcome().wasKilled)
                #expect(try await container.cachectl("list").output == Data("no items\n".utf8))
                let folder = container.root.appending(path: "Documents/film")
                #expect(!FileManager.default.fileExists(atPath: folder.path))
            }
            let last = try RunningTool(fetch, in: container)
            #expect(try last.wait { $0.outcome == "delivered" })
            #expect(last.outcome() == (0, false))
            #expect(try await container.cachectl("cat", "film").output == content)
            let sent = nginx.stop().filter { [200, 206].contains($0.status) }.map(\.sent).reduce(0, +)
            let twice = sent - Int64(content.count)
            print("killed \(Self.kills) times within \(content.count) bytes: \(twice) bytes fetched twice")
            #expect((0...Self.mostTwice).contains(twice))
        }
    }
}
