import Foundation

/// A program of this machine.
struct Command {
    private let executable: URL

    /// - Returns: `nil` when there is no program of this name on the search path.
    init?(_ name: String) {
        let path = ProcessInfo.processInfo.environment["PATH"] ?? ""
        let candidates = path.split(separator: ":").map { URL(filePath: String($0)).appending(path: name) }
        guard
            let found = candidates.first(where: {
                FileManager.default.isExecutableFile(atPath: $0.path(percentEncoded: false))
            })
        else { return nil }
        executable = found
    }

    /// Runs the program until it ends.
    ///
    /// - Returns: Its standard output, or `nil` when it failed.
    func run(_ arguments: [String]) throws -> Data? {
        let process = Process()
        let output = Pipe()
        process.executableURL = executable
        process.arguments = arguments
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        try process.run()
        // Read before waiting for the end: a full pipe would keep the program from ending.
        let written = try output.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        return process.terminationStatus == 0 ? written : nil
    }
}
