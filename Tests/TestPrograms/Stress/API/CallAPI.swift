internal import ArgumentParser
internal import FileSystemTestSupport
internal import Foundation
internal import PrefetchCaching
internal import SystemPackage

struct CallAPI: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "api",
        abstract: "Calls everything that the cache can do, at random, from many tasks of this one process.",
        discussion: """
            Tasks are cancelled at random moments. At the end thousands open a few keys at once, the cache is closed while it is \
            being used, and its books are compared with the disk.
            """)

    @OptionGroup var options: RunOptions
    @Option(help: "How many tasks.")
    var tasks = 8
    @Option(help: "How many open a few keys at once.")
    var opens = 2000
    @Flag(help: "Count without protection, for a sanitizer to report.")
    var broken = false

    @Flag(help: "Print one line of what came of it, and faults as errors.")
    var record = false
    @Flag(
        name: .customLong("watched"),
        help: "A sanitizer watches, and ends the process when it has something to report.")
    var isWatched = false

    func run() async throws {
        if broken { await UnprotectedCounter.count() }
        var report = APIReport()
        let cache = try await PrefetchCache(inContainer: options.container)
        let listener = Task { [events = cache.events] in
            var count = 0
            for await _ in events { count += 1 }
            return count
        }
        await callAtRandom(cache, &report)
        try await openAtOnce(cache, &report)
        await closeInTheMiddle(cache, &report)
        report.events = await listener.value
        report.faults += try await Books(inContainer: options.container).faults()
        if record {
            var record = report.record
            // What it reports ends the process before.
            if isWatched { record.note(\.sanitizerReports, 0) }
            record.report()
        } else {
            try printJSON(report)
        }
        guard report.faults.isEmpty else {
            for fault in report.faults where record {
                try FileHandle.standardError.write(contentsOf: Data("\(fault)\n".utf8))
            }
            throw ExitCode.failure
        }
    }

    private func callAtRandom(_ cache: PrefetchCache, _ report: inout APIReport) async {
        let deadline = options.deadline
        await withTaskGroup(of: APIReport.self) { group in
            for task in 0..<tasks {
                group.addTask { [options] in
                    var caller = APICaller(
                        cache, inContainer: options.container, seed: options.seed &* 1000 &+ UInt64(task))
                    // Half of them change threads with every call.
                    if task.isMultiple(of: 2) {
                        await withTaskExecutorPreference(cache.executor) {
                            await caller.work(until: deadline)
                        }
                    } else {
                        await caller.work(until: deadline)
                    }
                    return caller.report
                }
            }
            for await part in group { report.add(part) }
        }
    }

    private func openAtOnce(_ cache: PrefetchCache, _ report: inout APIReport) async throws {
        let keys = try (0..<4).map { try ItemKey("crowd-\($0)") }
        for key in keys {
            let metadata = ItemMetadata(
                key: key, destination: .documents(FileName(sanitizing: key.string), backup: .include))
            if case .refused(let refusal) = try await cache.store(Content.of(key.string), as: metadata) {
                report.faults.append("\(key) was refused: \(refusal)")
            }
        }
        let paths = try await withThrowingTaskGroup(of: String?.self) { group in
            for number in 0..<opens {
                group.addTask { try await cache.open(keys[number % keys.count])?.path.string }
            }
            return try await group.reduce(into: [:]) { $0[$1, default: 0] += 1 }
        }
        if paths.count != keys.count || paths[nil] != nil {
            report.faults.append("\(opens) opens of \(keys.count) keys returned \(paths)")
        }
        for key in keys {
            guard let path = paths.keys.compactMap(\.self).first(where: { $0.hasSuffix("/\(key.string)") }),
                FileManager.default.contents(atPath: path) == Content.of(key.string)
            else {
                report.wrong += 1
                report.faults.append("\(key) was not opened as stored")
                continue
            }
        }
        report.opensAtOnce = opens
    }

    private func closeInTheMiddle(_ cache: PrefetchCache, _ report: inout APIReport) async {
        await withTaskGroup(of: APIReport.self) { group in
            for task in 0..<tasks {
                group.addTask { [options] in
                    var caller = APICaller(
                        cache, inContainer: options.container, seed: options.seed &+ UInt64(task))
                    await caller.workUntilClosed()
                    return caller.report
                }
            }
            group.addTask {
                var report = APIReport()
                for _ in 0..<100 { await Task.yield() }
                do { try await cache.close() } catch { report.faults.append("close: \(error)") }
                return report
            }
            for await part in group { report.add(part) }
        }
    }
}

/// What `api` prints.
struct APIReport: Codable, Sendable {
    /// How often each operation was called, and how many calls were cancelled.
    var calls: [String: Int] = [:]
    var cancelled = 0
    var opensAtOnce = 0
    var events = 0
    /// Answers with content that is not what was stored.
    var wrong = 0
    /// What must never be: errors, and such answers.
    var faults: [String] = []

    var record: AttackRecord {
        var record = AttackRecord(
            "threads.every-operation", of: "calls of which some are cancelled",
            cases: opensAtOnce + calls.values.reduce(0, +))
        record.note(\.wrongBytes, wrong)
        return record
    }

    mutating func add(_ other: APIReport) {
        calls.merge(other.calls, uniquingKeysWith: +)
        cancelled += other.cancelled
        wrong += other.wrong
        faults += other.faults
    }
}
