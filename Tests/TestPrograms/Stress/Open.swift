internal import ArgumentParser
internal import FileSystemTestSupport
internal import Foundation
internal import PrefetchCaching

struct Open: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract:
            "Stores and opens items that others store and open, too, and tells where each became a file.")

    @OptionGroup var options: RunOptions
    @Option(help: "How many tasks.")
    var tasks = 1
    @Flag(help: "The system takes files and folders away meanwhile: what is documented for that is no fault.")
    var purged = false

    func run() async throws {
        _ = nice(10)
        let cache = try await PrefetchCache(inContainer: options.container)
        let deadline = options.deadline
        var report = OpenReport()
        await withTaskGroup(of: OpenReport.self) { group in
            for task in 0..<tasks {
                group.addTask { [options, purged] in
                    var opener = Opener(cache, seed: options.seed &* 1000 &+ UInt64(task), isPurged: purged)
                    await opener.work(until: deadline)
                    return opener.report
                }
            }
            for await part in group { report.add(part) }
        }
        try await cache.close()
        try printJSON(report)
    }
}
