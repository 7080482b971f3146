internal import ArgumentParser
internal import FileSystemTestSupport
internal import Foundation
internal import PrefetchCaching

/// What `locks` prints.
struct LockReport: Codable, Sendable {
    /// How often each operation was called.
    var calls: [String: Int] = [:]
    /// How often the locks of a file that SQLite held were compared with the kernel's list.
    var checks = 0
    /// The names of the files whose locks were lost.
    var lost: [String] = []
    var faults: [String] = []
}

struct WatchLocks: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "locks",
        abstract: "Calls everything that the cache can do, and watches the locks of its databases.")

    @OptionGroup var options: RunOptions
    @Option(help: "A file below the container to open and close meanwhile, as only SQLite may.")
    var meddling: String?

    func run() async throws {
        // As the kernel names the files.
        let container = URL(filePath: options.container).resolvingSymlinksInPath().path
        try LockWatch.begin(below: container)
        let cache = try await PrefetchCache(inContainer: container)
        var report = LockReport()
        let deadline = options.deadline
        await withTaskGroup(of: LockReport.self) { group in
            for task in 1...2 {
                group.addTask {
                    await call([.storeData, .open, .flush, .forget], in: cache, container, UInt64(task)) {
                        _ in
                        ContinuousClock.now < deadline
                    }
                }
            }
            group.addTask {
                // All of them twice, however long that takes.
                await call(APICall.Operation.allCases, in: cache, container, 3) { rounds in
                    rounds < 2 || ContinuousClock.now < deadline
                }
            }
            for await part in group {
                report.calls.merge(part.calls, uniquingKeysWith: +)
                report.faults += part.faults
            }
        }
        (report.checks, report.lost) = LockWatch.result()
        try await cache.close()
        try printJSON(report)
    }

    private func call(
        _ operations: [APICall.Operation], in cache: PrefetchCache, _ container: String, _ seed: UInt64,
        while goOn: @Sendable (_ rounds: Int) -> Bool
    ) async -> LockReport {
        var generator = SeededGenerator(seed: options.seed &* 1000 &+ seed)
        var report = LockReport()
        var rounds = 0
        while goOn(rounds) {
            for operation in operations {
                report.calls[operation.rawValue, default: 0] += 1
                do {
                    let call = APICall(cache, inContainer: container, seed: generator.next())
                    report.faults += try await call.run(operation).map { "\(operation.rawValue): \($0)" }
                } catch {
                    report.faults.append("\(operation.rawValue): \(error)")
                }
                if let meddling { _ = FileManager.default.contents(atPath: "\(container)/\(meddling)") }
            }
            rounds += 1
        }
        return report
    }
}
