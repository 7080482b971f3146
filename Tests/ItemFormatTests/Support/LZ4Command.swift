import FileSystemTestSupport
import Foundation
import SystemPackage

/// The `lz4` command, another implementation's reader of the same frames.
enum LZ4Command {
    private static let url = ProcessInfo.processInfo.environment["PATH", default: ""]
        .split(separator: ":").map { URL(filePath: "\($0)/lz4") }
        .first { FileManager.default.isExecutableFile(atPath: $0.path(percentEncoded: false)) }

    static let isInstalled = url != nil

    struct Outcome {
        let status: Int32
        let output: [UInt8]
    }

    static func run(_ arguments: String...) throws -> Outcome {
        // A file takes any amount of output; a pipe would have to be emptied meanwhile.
        let output = URL(filePath: NSTemporaryDirectory()).appending(path: "lz4-\(UUID().uuidString)")
        try Data().write(to: output)
        defer {
            do {
                try FileManager.default.removeItem(at: output)
            } catch {
                print("left behind: \(error)")
            }
        }
        let handle = try FileHandle(forWritingTo: output)
        let process = ChildProcess()
        process.executableURL = url
        process.arguments = arguments
        process.standardOutput = handle
        process.standardError = FileHandle.nullDevice
        try process.run()
        process.waitUntilExit()
        try handle.close()
        return Outcome(status: process.terminationStatus, output: [UInt8](try Data(contentsOf: output)))
    }
}
