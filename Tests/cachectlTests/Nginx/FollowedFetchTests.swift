import Foundation
import HTTPTestServer
import PrefetchItemFormat
import Testing

extension ServerTests {
    /// Content that is read while it is downloaded, by a process that is killed and started again.
    @Suite struct FollowedFetchTests {
        private let nginx: Nginx
        private let container: Container
        private let content = noise(40 << 20, seed: 1)

        init() async throws {
            nginx = try Nginx()
            container = try Container()
            try content.write(to: nginx.files.appending(path: "film.mp4"))
            try await container.succeed("configure", "--budget", "1GiB", "--largest", "1GiB")
        }

        @Test(arguments: [[], ["--requested"]])
        func theReaderGetsEveryByteOnceWhileTheDownloadIsKilledThreeTimes(_ options: [String]) async throws {
            // On threads of which there are more as long as some wait.
            try await withTaskExecutorPreference(BlockingExecutor()) { try await readWhileFetching(options) }
        }

        private func readWhileFetching(_ options: [String]) async throws {
            let container = container
            async let whole = container.succeed("cat", "film", "--follow").output
            async let end = container.succeed("cat", "film", "--follow", "--range", "-5").output
            async let middle = container.succeed(
                "cat", "film", "--follow", "--range", "30000000-30000009"
            ).output
            let arguments =
                ["fetch", "--json", "--key", "film", nginx.url("film.mp4", isSlow: true)] + options
            for part in 1...3 {
                let tool = try RunningTool(arguments, in: container)
                #expect(try tool.wait { $0.completedBytes ?? 0 > content.count / 4 * part })
                tool.send(SIGKILL)
                #expect(tool.outcome().wasKilled)
            }
            #expect(try RunningTool.run(arguments, in: container) == 0)
            #expect(try await middle == content[30_000_000..<30_000_010])
            #expect(try await whole == content)
            #expect(try await end == content.suffix(5))
        }
    }
}
