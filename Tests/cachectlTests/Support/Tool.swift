import Dispatch
import FileSystemTestSupport
import Foundation
import Testing

/// The built command, which lies beside the tests.
enum Tool {
    static var path: String {
        get throws {
            let file = Bundle.main.bundleURL.appending(path: "cachectl", directoryHint: .notDirectory)
            if FileManager.default.isExecutableFile(atPath: file.path) { return file.path }
            // Where tests run inside a helper process, the test bundle tells the folder.
            let bundle = try #require(Bundle.allBundles.first { $0.bundlePath.hasSuffix(".xctest") })
            return bundle.bundleURL.deletingLastPathComponent().appending(path: "cachectl").path
        }
    }

    /// What a process left behind.
    struct Outcome {
        let status: Int32
        let output: Data
        let errors: String

        var text: String { String(decoding: output, as: UTF8.self) }

        /// The failure that was printed as JSON, alone on standard error.
        var failure: Failure {
            get throws { try JSONDecoder().decode(Failure.self, from: Data(errors.utf8)) }
        }

        struct Failure: Decodable, Hashable {
            let schemaVersion: Int
            let error: String
            let exitCode: Int32
            let message: String
        }
    }

    /// Runs a program to its end. Its streams are files: a full pipe cannot stop it.
    ///
    /// The waiting thread is one of the test runner's few, which also bounds how many processes run
    /// at a time.
    static func run(
        _ program: String, _ arguments: [String], environment: [String: String] = [:], input: Data = Data(),
        in folder: TemporaryFolder
    ) throws -> Outcome {
        let name = UUID().uuidString
        let outputFile = try folder.write(Data(), to: "\(name).out")
        let errorFile = try folder.write(Data(), to: "\(name).err")
        let inputFile = try folder.write(input, to: "\(name).in")

        let process = ChildProcess()
        process.executableURL = URL(filePath: program)
        process.arguments = arguments
        process.currentDirectoryURL = folder.url
        process.environment = environment.merging(
            ["PATH": "/usr/bin:/bin", "HOME": folder.url.path]
        ) { own, _ in own }
        process.standardInput = try FileHandle(forReadingFrom: inputFile)
        process.standardOutput = try FileHandle(forWritingTo: outputFile)
        process.standardError = try FileHandle(forWritingTo: errorFile)
        let ended = DispatchSemaphore(value: 0)
        process.terminationHandler = { _ in ended.signal() }
        try process.run()
        ended.wait()

        let outcome = Outcome(
            status: process.terminationStatus, output: try Data(contentsOf: outputFile),
            errors: String(decoding: try Data(contentsOf: errorFile), as: UTF8.self))
        for file in [outputFile, errorFile, inputFile] { try FileManager.default.removeItem(at: file) }
        return outcome
    }
}
