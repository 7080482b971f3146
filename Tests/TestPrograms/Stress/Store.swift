internal import ArgumentParser
internal import FileSystemTestSupport
internal import Foundation
internal import PrefetchCaching

struct Store: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Stores, reads, removes and opens items of random sizes from several tasks at once.")

    @OptionGroup var options: RunOptions
    @Option(help: "How many tasks.")
    var tasks = 1
    @Flag(help: "The system takes files and folders away meanwhile: what is documented for that is no fault.")
    var purged = false
    @Flag(
        help:
            "Have keys that nobody else uses, and that must be there as long as nobody evicts what is old, or all."
    )
    var keepsakes = false
    @Flag(help: "Store something else under a key now and then: whoever watches has to see it.")
    var mixedUp = false
    @Flag(help: "Kill this very process half way, in the middle of an item.")
    var die = false
    @Flag(help: "Keep what is written of that item.")
    var keep = false

    func run() async throws {
        // Whoever watches comes first.
        _ = nice(10)
        let cache = try await PrefetchCache(inContainer: options.container)
        let start = ContinuousClock.now
        let deadline = options.deadline
        let work = Worker.Options(isPurged: purged, hasKeepsakes: keepsakes, isMixingUp: mixedUp)
        var report = WorkReport()
        await withTaskGroup(of: WorkReport.self) { group in
            for task in 0..<tasks {
                group.addTask { [options] in
                    var worker = Worker(
                        cache, name: "\(options.seed)-\(task)", seed: options.seed &* 1000 &+ UInt64(task),
                        work)
                    await worker.work(until: deadline)
                    return worker.report
                }
            }
            if die {
                group.addTask { [options, keep] in
                    await Self.die(
                        in: cache, at: start + .seconds(options.seconds / 2), seed: options.seed,
                        keeping: keep)
                }
            }
            for await part in group { report.add(part) }
        }
        try await cache.close()
        try printJSON(report)
    }

    /// Ends this process as `kill -9` does, with half an item written and the space for all of it held.
    private static func die(
        in cache: PrefetchCache, at time: ContinuousClock.Instant, seed: UInt64, keeping: Bool
    ) async -> WorkReport {
        var report = WorkReport()
        var generator = SeededGenerator(seed: seed)
        do {
            try await Task.sleep(until: time)
            let metadata = ItemMetadata(key: "unfinished", destination: .documents("unfinished"))
            let content = Content.noise(2 << 20, using: &generator)
            let begun = try await cache.beginStoring(
                metadata, expectedLength: Int64(content.count), keepingPartial: keeping)
            if case .writer(let writer) = begun {
                _ = try await writer.write(content.prefix(content.count * 3 / 4))
                kill(getpid(), SIGKILL)
            }
            report.faults.append("the item to die in was refused")
        } catch {
            report.faults.append("\(error)")
        }
        return report
    }
}
