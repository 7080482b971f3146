import Foundation
import HTTPTestServer
import PrefetchDownloading
import Testing

extension ServerTests {
    /// A list of real files, fetched by a process that is killed three times on the way: 200 files where
    /// `PREFETCHCACHE_LONG_TESTS` is set, fewer otherwise.
    @Suite struct KilledFetchTests {
        private static let isLong = ProcessInfo.processInfo.environment["PREFETCHCACHE_LONG_TESTS"] != nil
        private static let count = isLong ? 200 : 16
        private static let leastBytes: Int64 = isLong ? 500_000_000 : 40_000_000
        private static let kills = 3
        private static let parallel = 4

        /// What is not stored in whole chunks when the process dies is fetched again.
        private static let chunk: Int64 = 1 << 20
        /// What the server has sent and the cache has not stored: the 2 MiB that wait in the downloader, and what
        /// is being written or held by the sockets of both sides.
        private static let inFlight: Int64 = 3 << 20

        private let nginx: Nginx
        private let container: Container
        private let files: [String: URL]

        init() async throws {
            nginx = try Nginx()
            container = try Container()
            files = try Self.realFiles()
            for (name, file) in files {
                try FileManager.default.createSymbolicLink(
                    at: nginx.files.appending(path: name), withDestinationURL: file)
            }
            try await container.succeed("configure", "--budget", "4GiB", "--largest", "1GiB")
        }

        /// Files of this machine by names that are safe in a URL: so many, with so many bytes together.
        private static func realFiles() throws -> [String: URL] {
            let folders = ["/usr/lib", "/usr/bin", "/opt", "/usr/share", "/usr/libexec", "/Library"]
            var candidates: [(size: Int64, file: URL)] = []
            for folder in folders.map({ URL(filePath: $0, directoryHint: .isDirectory) }) {
                let keys: [URLResourceKey] = [.isRegularFileKey, .fileSizeKey]
                let found = FileManager.default.enumerator(at: folder, includingPropertiesForKeys: keys)
                while let file = found?.nextObject() as? URL {
                    let values = try file.resourceValues(forKeys: Set(keys))
                    guard values.isRegularFile == true, let size = values.fileSize,
                        (1 << 20...12 << 20).contains(size),
                        FileManager.default.isReadableFile(atPath: file.path)
                    else { continue }
                    candidates.append((Int64(size), file))
                }
            }
            candidates.sort { $0.size > $1.size }
            // Large and small ones by turns.
            var chosen: [(size: Int64, file: URL)] = []
            while chosen.count < count, !candidates.isEmpty {
                chosen.append(chosen.count % 2 == 0 ? candidates.removeFirst() : candidates.removeLast())
            }
            try #require(chosen.count == count && chosen.map(\.size).reduce(0, +) >= leastBytes)
            return Dictionary(
                uniqueKeysWithValues: chosen.enumerated().map { index, entry in
                    ("file-\(index).bin", entry.file)
                })
        }

        @Test func nothingIsDamagedAndLittleIsFetchedTwice() async throws {
            var sizes: [String: Int64] = [:]
            let lines = try files.map { name, file in
                let content = try Data(contentsOf: file)
                sizes[name] = Int64(content.count)
                let digest = SHA256.digest(of: content).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }
                return "\(nginx.url(name, isSlow: true))\t\(name)\t\(digest.joined())"
            }
            let list = try container.folder.write(
                Data((["# Real files", ""] + lines).joined(separator: "\n").utf8), to: "list")
            let arguments = [
                "fetch", "--json", "--from-file", list.path, "--parallel", "\(Self.parallel)", "--per-host",
                "\(Self.parallel)",
            ]
            let total = sizes.values.reduce(0, +)
            for part in 1...Self.kills {
                try runAndKill(arguments, after: total / Int64(Self.kills + 1), part)
            }

            let last = try RunningTool(arguments, in: container)
            var outcomes: [String: String] = [:]
            while let event = try last.nextEvent() {
                outcomes[event.key] = event.outcome ?? outcomes[event.key]
            }
            #expect(last.outcome() == (0, false))
            #expect(Set(outcomes.keys) == Set(files.keys))
            #expect(Set(outcomes.values).isSubset(of: ["stored", "alreadyCached"]))
            for (name, file) in files {
                #expect(try await container.cachectl("cat", name).output == Data(contentsOf: file), "\(name)")
            }
            expectLittleTwice(nginx.stop(), sizes)
        }

        /// Kills the process when it has fetched so many bytes, in the middle of a file.
        private func runAndKill(_ arguments: [String], after bytes: Int64, _ part: Int) throws {
            let tool = try RunningTool(arguments, in: container)
            var starts: [String: Int64] = [:]
            var ends: [String: Int64] = [:]
            let isReached = try tool.wait { event in
                guard let completed = event.completedBytes, let total = event.totalBytes else {
                    if event.event == "resumed" { starts[event.key] = event.completedBytes }
                    return false
                }
                ends[event.key] = completed
                let fetched = ends.map { $1 - starts[$0, default: 0] }.reduce(0, +)
                return fetched >= bytes && completed > Self.chunk && completed < total - Self.chunk
            }
            #expect(isReached, "run \(part) ended before it was killed")
            tool.send(SIGKILL)
            #expect(tool.outcome().wasKilled)
        }

        private func expectLittleTwice(_ entries: [Nginx.Entry], _ sizes: [String: Int64]) {
            var sent: [String: Int64] = [:]
            var isResumed = false
            for entry in entries where [200, 206].contains(entry.status) {
                sent[entry.name, default: 0] += entry.sent
                isResumed = isResumed || entry.status == 206
            }
            #expect(isResumed)
            let twice = sizes.mapValues { -$0 }.merging(sent) { $0 + $1 }
            #expect(twice.values.allSatisfy { $0 >= 0 })
            let again = twice.filter { $0.value > 0 }
            print(
                "\(sizes.count) files, \(sizes.values.reduce(0, +)) bytes: \(again.count) files had "
                    + "\(again.values.reduce(0, +)) bytes fetched twice, one at most \(again.values.max() ?? 0)"
            )
            #expect(again.count <= Self.kills * Self.parallel)
            // A file may be in the middle at every kill.
            #expect(again.values.allSatisfy { $0 <= Int64(Self.kills) * (Self.chunk + Self.inFlight) })
            #expect(
                again.values.reduce(0, +)
                    <= Int64(Self.kills * Self.parallel) * (Self.chunk + Self.inFlight))
        }
    }
}
