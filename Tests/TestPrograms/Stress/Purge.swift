internal import ArgumentParser
internal import FileSystemTestSupport
internal import Foundation

/// What `purge` prints.
struct PurgerReport: Codable {
    /// How often each part went.
    var purges: [String: Int] = [:]
    var faults: [String] = []
}

struct Purge: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Takes files and folders of Caches and tmp away again and again, as the system does.")

    @OptionGroup var options: RunOptions
    @Option(help: "Milliseconds from one part to the next.")
    var pause: UInt32 = 100

    func run() throws {
        let deadline = options.deadline
        var purger = Purger(
            of: URL(filePath: options.container, directoryHint: .isDirectory), seed: options.seed)
        var report = PurgerReport()
        while ContinuousClock.now < deadline {
            do {
                report.purges[try purger.purge().rawValue, default: 0] += 1
            } catch {
                report.faults.append("\(error)")
            }
            usleep(pause * 1000)
        }
        try printJSON(report)
    }
}
