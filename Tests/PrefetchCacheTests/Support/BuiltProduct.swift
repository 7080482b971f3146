import Dispatch
import FileSystemTestSupport
import Foundation
import Testing

/// The executables of this package that lie beside the tests.
enum BuiltProduct {
    struct Outcome {
        let status: Int32
        let wasKilled: Bool
        let output: Data
        let errors: String
    }

    static func named(_ name: String) throws -> URL {
        let file = Bundle.main.bundleURL.appending(path: name, directoryHint: .notDirectory)
        if FileManager.default.isExecutableFile(atPath: file.path) { return file }
        // Where tests run inside a helper process, the test bundle tells the folder.
        let bundle = try #require(Bundle.allBundles.first { $0.bundlePath.hasSuffix(".xctest") })
        return bundle.bundleURL.deletingLastPathComponent().appending(path: name)
    }

    /// Runs one to its end. What it prints goes to files: a pipe may be full, and stays open in whatever process is
    /// started by others meanwhile.
    static func run(_ name: String, _ arguments: [String]) throws -> Outcome {
        let files = ["out", "err"].map {
            FileManager.default.temporaryDirectory.appending(path: "\(name)-\(UUID().uuidString).\($0)")
        }
        for file in files { try Data().write(to: file) }
        defer { for file in files { unlink(file.path) } }
        let process = ChildProcess()
        process.executableURL = try named(name)
        process.arguments = arguments
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = try FileHandle(forWritingTo: files[0])
        process.standardError = try FileHandle(forWritingTo: files[1])
        let ended = DispatchSemaphore(value: 0)
        process.terminationHandler = { _ in ended.signal() }
        try process.run()
        ended.wait()
        return Outcome(
            status: process.terminationStatus,
            wasKilled: process.terminationReason == .uncaughtSignal && process.terminationStatus == SIGKILL,
            output: try Data(contentsOf: files[0]),
            errors: String(decoding: try Data(contentsOf: files[1]), as: UTF8.self))
    }
}
