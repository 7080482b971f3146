import Contenders
import Foundation

/// A day of an app: bursts of items are prefetched, some are looked at, a few are opened, and what is oldest
/// makes way.
///
/// Others are told what to evict; the cache evicts by itself, within a budget that holds as much.
struct DaySuite {
    static let size = 64 << 10
    /// Per burst.
    private static let stored = 100
    private static let read = 20
    private static let opened = 4
    /// A burst makes way when so many newer ones are there.
    private static let kept = 5
    /// Bytes: about `kept` bursts, compressed.
    static let budget: Int64 = 16 << 20

    let lineup: Lineup
    let turns: Turns
    let bursts: Int

    /// Bytes on the volume, for one round and for the folders that earlier ones leave behind.
    var neededBytes: Int {
        lineup.all.count * (2 * bursts * Self.stored * Self.size + (turns.rounds + 1) * (4 << 20))
    }

    func run(text: TextCorpus) async throws -> SuiteResult {
        let workload = Workload(text: text, size: Self.size, count: bursts * Self.stored)
        var (times, bytes): ([[Double]], [[Double]]) = ([], [])
        for round in 0...turns.rounds {
            turns.progress.show("day, round \(round) of \(turns.rounds)")
            let homes = try turns.makeHomes(lineup.all.count)
            for (contender, home) in zip(lineup.all, homes) {
                try await contender.prepare(in: home, for: workload)
            }
            let figures = try await turns.take(lineup.all.count, in: round) { index in
                let contender = lineup.all[index]
                let elapsed = try await withTaskExecutorPreference(contender.executor) {
                    try await day(of: contender, workload)
                }
                return elapsed / .microseconds(1) / Double(workload.contents.count)
            }
            sync()
            var held: [Double] = []
            for (contender, home) in zip(lineup.all, homes) {
                // The user's files are no longer the cache's.
                let documents = contender.promotedFile(0).deletingLastPathComponent()
                let bytes = try home.allocatedBytes(without: documents)
                held.append(Double(bytes) / Double(await readableItems(of: contender, workload)))
            }
            if round > 0 {
                times.append(figures)
                bytes.append(held)
            }
            for contender in lineup.all { try await contender.cleanup() }
            turns.empty(homes)
        }
        func comparison(_ job: String, _ unit: Comparison.Unit, _ rounds: [[Double]]) -> Comparison {
            Comparison(
                suite: .day, job: job, unit: unit, material: workload.material, size: Self.size,
                names: lineup.all.map(\.name), rounds: rounds)
        }
        return SuiteResult(
            suite: .day,
            comparisons: [
                comparison("day", .microseconds, times),
                comparison("on the volume at its end", .bytes, bytes),
            ],
            setups: lineup.all.map { ($0.name, $0.setup) })
    }

    /// How many items are left: the cache evicts what exceeds its bytes, and others what they are told.
    private func readableItems(of contender: any Contender, _ workload: Workload) async -> Int {
        var count = 0
        // Of each burst, the first were opened.
        for index in workload.contents.indices where index % Self.stored >= Self.opened {
            do {
                _ = try await contender.read(index)
                count += 1
            } catch {
                // Evicted.
            }
        }
        return count
    }

    private func day(of contender: any Contender, _ workload: Workload) async throws -> Duration {
        var elapsed = Duration.zero
        for burst in 0..<bursts {
            let start = burst * Self.stored
            elapsed += try await contender.run(.store, for: start..<start + Self.stored, of: workload)
            elapsed += try await contender.run(.read, for: start..<start + Self.read, of: workload)
            elapsed += try await contender.run(.promote, for: start..<start + Self.opened, of: workload)
            guard burst >= Self.kept else { continue }
            let oldest = start - Self.kept * Self.stored
            elapsed += try await contender.run(
                .evict, for: oldest + Self.opened..<oldest + Self.stored, of: workload)
        }
        return elapsed
    }
}

extension URL {
    /// The bytes that the files in this folder take on their volume, without those in a folder inside it. Foundation's own
    /// figure counts blocks of 512 bytes as if they were those of the file system.
    fileprivate func allocatedBytes(without excluded: URL) throws -> Int {
        let path = excluded.resolvingSymlinksInPath().path + "/"
        guard let files = FileManager.default.enumerator(at: self, includingPropertiesForKeys: nil) else {
            throw CocoaError(.fileReadNoSuchFile)
        }
        var bytes = 0
        for case let file as URL in files where !file.resolvingSymlinksInPath().path.hasPrefix(path) {
            var found = stat()
            guard lstat(file.path, &found) == 0 else { throw CocoaError(.fileReadUnknown) }
            if found.st_mode & S_IFMT == S_IFREG { bytes += Int(found.st_blocks) * 512 }
        }
        return bytes
    }
}
