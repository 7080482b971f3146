import Dispatch
import FileSystemTestSupport
import Foundation
import SystemPackage
import Testing

@testable import cachectl

/// `cachectl`, run within this process. What needs one of its own, such as signals and closed streams, starts the built
/// command.
enum Tool {
    /// What a run left behind.
    struct Outcome {
        let status: Int32
        let output: Data
        let errors: String

        var text: String { String(decoding: output, as: UTF8.self) }

        var object: [String: Any] {
            get throws { try #require(JSONSerialization.jsonObject(with: output) as? [String: Any]) }
        }

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

    /// Every command opens files and starts threads, and all tests run at once.
    private actor Turns {
        private var free = 12
        private var waiting: [CheckedContinuation<Void, Never>] = []

        func take() async {
            if free > 0 { return free -= 1 }
            await withCheckedContinuation { waiting.append($0) }
        }

        func give() {
            if waiting.isEmpty { free += 1 } else { waiting.removeFirst().resume() }
        }
    }

    private static let turns = Turns()

    /// Runs the command within this process.
    static func run(_ arguments: [String], input: Data = Data(), in folder: TemporaryFolder) async throws
        -> Outcome
    {
        let files = try Files(input, in: folder)
        await turns.take()
        let code = await StandardStreams.$input.withValue(files.input.descriptor) {
            await StandardStreams.$output.withValue(files.output.descriptor) {
                await StandardStreams.$error.withValue(files.errors.descriptor) {
                    await Invocation(arguments: arguments).run()
                }
            }
        }
        await turns.give()
        return try files.outcome(code.rawValue)
    }

    /// The built command, which lies beside the tests.
    static var path: String {
        get throws {
            let file = Bundle.main.bundleURL.appending(path: "cachectl", directoryHint: .notDirectory)
            if FileManager.default.isExecutableFile(atPath: file.path) { return file.path }
            // Where tests run inside a helper process, the test bundle tells the folder.
            let bundle = try #require(Bundle.allBundles.first { $0.bundlePath.hasSuffix(".xctest") })
            return bundle.bundleURL.deletingLastPathComponent().appending(path: "cachectl").path
        }
    }

    /// Runs a program as a process of its own, to its end.
    ///
    /// The waiting thread is one of the test runner's few, which also bounds how many processes run at a time.
    static func start(
        _ program: String, _ arguments: [String], environment: [String: String] = [:], input: Data = Data(),
        in folder: TemporaryFolder
    ) throws -> Outcome {
        let files = try Files(input, in: folder)
        let process = ChildProcess()
        process.executableURL = URL(filePath: program)
        process.arguments = arguments
        process.currentDirectoryURL = folder.url
        process.environment = environment.merging(
            ["PATH": "/usr/bin:/bin", "HOME": folder.url.path]
        ) { own, _ in own }
        (process.standardInput, process.standardOutput) = (files.input, files.output)
        process.standardError = files.errors
        try process.run()
        process.waitUntilExit()
        return try files.outcome(process.terminationStatus)
    }

    /// The standard streams of a run: a full pipe could stop it.
    private struct Files {
        let input, output, errors: FileHandle
        private let urls: [URL]

        init(_ content: Data, in folder: TemporaryFolder) throws {
            let name = UUID().uuidString
            urls = try [".in", ".out", ".err"].map {
                try folder.write($0 == ".in" ? content : Data(), to: name + $0)
            }
            input = try FileHandle(forReadingFrom: urls[0])
            output = try FileHandle(forWritingTo: urls[1])
            errors = try FileHandle(forWritingTo: urls[2])
        }

        func outcome(_ status: Int32) throws -> Outcome {
            let contents = try urls.map { try Data(contentsOf: $0) }
            for url in urls { try FileManager.default.removeItem(at: url) }
            return Outcome(
                status: status, output: contents[1], errors: String(decoding: contents[2], as: UTF8.self))
        }
    }
}

extension FileHandle {
    fileprivate var descriptor: FileDescriptor { FileDescriptor(rawValue: fileDescriptor) }
}
