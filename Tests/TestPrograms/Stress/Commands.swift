internal import ArgumentParser
internal import FileSystemTestSupport
internal import Foundation

/// What `commands` prints.
struct CommandsReport: Codable {
    /// How often each command of `cachectl` ran.
    var runs: [String: Int] = [:]
    /// Those that ended in a way that nobody expects, with what they said.
    var faults: [String] = []
}

struct Commands: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Runs one command of cachectl after the other, chosen at random.")

    /// None of them is to fail, whoever works on the cache meanwhile.
    private static let commands = [
        ["stats"], ["stats", "--json"], ["list"], ["list", "--json"], ["evict", "--bytes", "1MiB"], ["trim"],
        ["verify", "--sample", "50"], ["repair"], ["repair", "--dry-run"], ["inventory"], ["capacity"],
    ]

    @OptionGroup var options: RunOptions
    @Option(help: "Where cachectl lies.")
    var tool: String

    @Flag(help: "The system takes files away meanwhile: a repair that it takes the catalog from may say so.")
    var purged = false

    func run() throws {
        let deadline = options.deadline
        var generator = SeededGenerator(seed: options.seed)
        var report = CommandsReport()
        while ContinuousClock.now < deadline {
            guard let command = Self.commands.randomElement(using: &generator) else { break }
            let (status, errors) = try run(command)
            report.runs[command[0], default: 0] += 1
            if purged, command[0] == "repair", status == 74 { continue }
            if status != 0 {
                report.faults.append("\(command.joined(separator: " ")) ended with \(status): \(errors)")
            }
        }
        try printJSON(report)
    }

    private func run(_ command: [String]) throws -> (status: Int32, errors: String) {
        let process = ChildProcess()
        let errors = Pipe()
        process.executableURL = URL(filePath: tool)
        process.arguments = command + ["--container", options.container]
        process.standardOutput = FileHandle.nullDevice
        process.standardError = errors
        try process.run()
        let text = String(decoding: errors.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        return (process.terminationReason == .exit ? process.terminationStatus : -1, text)
    }
}
