import Contenders
import Foundation

/// Runs this program once more, for one measurement.
struct Child {
    let container: URL
    let count: Int
    let charge: Int64

    func run(_ errand: Errand, round: Int) throws -> [Metric: Double] {
        let process = Process()
        process.executableURL = Bundle.main.executableURL ?? URL(filePath: CommandLine.arguments[0])
        process.arguments = [
            "probe", errand.rawValue, "--round", String(round), "--container",
            container.path(percentEncoded: false), "--count", String(count), "--charge", String(charge),
        ]
        let output = Pipe()
        process.standardOutput = output
        process.standardInput = FileHandle.nullDevice
        try process.run()
        let data = try output.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        guard process.terminationReason == .exit, process.terminationStatus == 0 else {
            // It has said why on the standard error that it shares with this process.
            throw Unexpected(
                description: "measuring '\(errand.rawValue)' with \(count) items ended with "
                    + "\(process.terminationReason == .exit ? "status" : "signal") \(process.terminationStatus)"
            )
        }
        let readings = try JSONDecoder().decode(Readings.self, from: data)
        return Dictionary(
            uniqueKeysWithValues: readings.compactMap { name, value in
                Metric(rawValue: name).map { ($0, value) }
            })
    }
}
