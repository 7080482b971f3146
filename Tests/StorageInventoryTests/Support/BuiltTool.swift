import FileSystemTestSupport
import Foundation
import Testing

/// The built `cachectl`, which lies beside the tests.
enum BuiltTool {
    struct Outcome {
        let status: Int32
        let output: String
    }

    private static var url: URL {
        get throws {
            let file = Bundle.main.bundleURL.appending(path: "cachectl", directoryHint: .notDirectory)
            if FileManager.default.isExecutableFile(atPath: file.path) { return file }
            // Where tests run inside a helper process, the test bundle tells the folder.
            let bundle = try #require(Bundle.allBundles.first { $0.bundlePath.hasSuffix(".xctest") })
            return bundle.bundleURL.deletingLastPathComponent().appending(path: "cachectl")
        }
    }

    static func run(_ arguments: [String], on container: SampleContainer) throws -> Outcome {
        try run(arguments, in: container.root)
    }

    static func run(_ arguments: [String], in container: URL) throws -> Outcome {
        let process = ChildProcess()
        process.executableURL = try url
        process.arguments = arguments + ["--container", container.path]
        let output = Pipe()
        process.standardOutput = output
        process.standardError = output
        try process.run()
        let data = try output.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        return Outcome(status: process.terminationStatus, output: String(decoding: data, as: UTF8.self))
    }
}
