import FileSystemTestSupport
import Foundation

/// Commands of the operating system that tests need: to make volumes, to mount them.
enum SystemCommand {
    struct Failure: Error {
        let command: String
    }

    static func run(_ command: String, _ arguments: String...) throws {
        guard FileManager.default.isExecutableFile(atPath: command) else { throw Failure(command: command) }
        let process = ChildProcess()
        process.executableURL = URL(filePath: command)
        process.arguments = arguments
        process.standardError = FileHandle.nullDevice
        try process.run()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else { throw Failure(command: command) }
    }
}
