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
        @Test func littleOfABundleIsFetchedTwice() throws {
            let nginx = try Nginx()
            let container = try Container()
            let content = noise(Self.bytes, seed: 2)
            let names = ["a.bin", "b.bin", "c.bin"]
            for (number, name) in names.enumerated() {
                let part = content.dropFirst(number * Self.bytes / 3).prefix(Self.bytes / 3)
                try part.write(to: nginx.files.appending(path: name))
            }
            let arguments =
                ["fetch", "--json", "--requested", "--bundle", "model", "--to", "documents"]
                + names.map { nginx.url($0, isSlow: true) }
            let folder = container.root.appending(path: "Documents/model")
            for number in 1...Self.kills {
                let tool = try RunningTool(arguments, in: container)
                let limit = Int64(Self.bytes / (Self.kills + 1) * number)
                #expect(try tool.wait { $0.completedBytes ?? 0 > limit }, "it ended before kill \(number)")
                tool.send(SIGKILL)
                #expect(tool.outcome().wasKilled)
                #expect(!FileManager.default.fileExists(atPath: folder.path))
            }
            let last = try RunningTool(arguments, in: container)
            #expect(try last.wait { $0.outcome == "delivered" })
            #expect(last.outcome() == (0, false))
            #expect(try container.cachectl("cat", "model").output == content.prefix(Self.bytes / 3 * 3))
            let sent = nginx.stop().filter { [200, 206].contains($0.status) }.map(\.sent).reduce(0, +)
            print("a bundle killed \(Self.kills) times: \(sent - Int64(Self.bytes)) bytes fetched twice")
            #expect(sent - Int64(Self.bytes) <= Self.mostTwice)
        }

        @Test func littleIsFetchedTwiceAndTheFileIsThereOnce() throws {
            let nginx = try Nginx()
            let container = try Container()
            let content = noise(Self.bytes, seed: 1)
            try content.write(to: nginx.files.appending(path: "film.mp4"))
            let arguments = [
                "fetch", "--json", "--requested", "--key", "film", nginx.url("film.mp4", isSlow: true),
            ]
            for number in 1...Self.kills {
                let tool = try RunningTool(arguments, in: container)
                let limit = Int64(Self.bytes / (Self.kills + 1) * number)
                #expect(try tool.wait { $0.completedBytes ?? 0 > limit }, "it ended before kill \(number)")
                tool.send(SIGKILL)
                #expect(tool.outcome().wasKilled)
                #expect(try container.cachectl("list").output == Data("no items\n".utf8))
            }
            let last = try RunningTool(arguments, in: container)
            #expect(try last.wait { $0.outcome == "delivered" })
            #expect(last.outcome() == (0, false))
            #expect(try container.cachectl("cat", "film").output == content)
            let sent = nginx.stop().filter { [200, 206].contains($0.status) }.map(\.sent).reduce(0, +)
            print(
                "killed \(Self.kills) times within \(Self.bytes) bytes: \(sent - Int64(Self.bytes)) bytes fetched twice"
            )
            #expect(sent >= Self.bytes)
            #expect(sent - Int64(Self.bytes) <= Self.mostTwice)
        }
    }
}
