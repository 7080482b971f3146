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

    @Option(help: "The app's container.")
    var container: String
    @Option(help: "How long.")
    var seconds: Double
    @Option(help: "Different numbers take different parts.")
    var seed: UInt64 = 1
    @Option(help: "Milliseconds from one part to the next.")
    var pause: UInt32 = 100

    func run() throws {
        let deadline = ContinuousClock.now + .seconds(seconds)
        var purger = Purger(of: URL(filePath: container, directoryHint: .isDirectory), seed: seed)
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
