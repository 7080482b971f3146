import FileSystemTestSupport
import Foundation

/// A run of the built `cachectl` on a container, to its end.
enum Cachectl {
    struct Outcome {
        let status: Int32
        let output: Data
        let errors: String
    }

    /// What it prints goes to files: a full pipe cannot stop it.
    static func run(_ arguments: [String], in container: TemporaryContainer) throws -> Outcome {
        let name = "cachectl-\(UUID().uuidString)"
        let files = ["out", "err"].map {
            FileManager.default.temporaryDirectory.appending(path: "\(name).\($0)")
        }
        for file in files { try Data().write(to: file) }
        defer {
            for file in files {
                do { try file.remove() } catch {
                    print("left behind: \(file.path)")
                }
            }
        }
        let process = ChildProcess()
        process.executableURL = try BuiltProduct.named("cachectl")
        process.arguments = arguments + ["--container", container.root.path]
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = try FileHandle(forWritingTo: files[0])
        process.standardError = try FileHandle(forWritingTo: files[1])
        try process.run()
        process.waitUntilExit()
        return Outcome(
            status: process.terminationStatus, output: try Data(contentsOf: files[0]),
            errors: String(decoding: try Data(contentsOf: files[1]), as: UTF8.self))
    }
}
