import Dispatch
import FileSystemTestSupport
import Foundation
import Testing

@testable import PrefetchCaching

/// A run of `testprograms promote`, from its start to its end.
struct PromotingProcess {
    /// What it was given: the path under which each key was opened.
    private(set) var opened: [ItemKey: String] = [:]
    /// What it met with.
    private(set) var failures: [String] = []
    /// The points that it passed and how long it took, when it came to its end.
    private(set) var finished: (points: Int, microseconds: Int)?
    /// The calls of the system of each step, where it was told to say them.
    private(set) var calls: [(step: String, counts: [String: Int])] = []
    let wasKilled: Bool

    init(_ arguments: [String], in container: TemporaryContainer) throws {
        // A file, because a pipe stays open in whatever process is started by others meanwhile.
        let report = FileManager.default.temporaryDirectory.appending(path: "promoting-\(UUID())")
        try Data().write(to: report)
        defer { unlink(report.path) }
        let output = try FileHandle(forWritingTo: report)

        let process = ChildProcess()
        process.executableURL = try BuiltProduct.named("testprograms")
        process.arguments = ["promote", "--container", container.root.path] + arguments
        process.standardOutput = output
        let ended = DispatchSemaphore(value: 0)
        process.terminationHandler = { _ in ended.signal() }
        try process.run()
        ended.wait()
        try output.close()

        wasKilled = process.terminationReason == .uncaughtSignal && process.terminationStatus == SIGKILL
        if !wasKilled, process.terminationStatus != 0 {
            failures.append("ended with \(process.terminationStatus)")
        }
        let text = String(decoding: try Data(contentsOf: report), as: UTF8.self)
        for line in text.split(separator: "\n") {
            try note(line.split(separator: "\t").map(String.init))
        }
    }

    private mutating func note(_ words: [String]) throws {
        switch words.first {
        case "opened": opened[try ItemKey(words[1])] = words[2]
        case "missed": break
        case "calls":
            let counts = try words[2].split(separator: " ").map { count in
                let parts = count.split(separator: "=")
                return (String(parts[0]), try #require(Int(parts[1])))
            }
            calls.append((words[1], Dictionary(uniqueKeysWithValues: counts)))
        case "finished":
            finished = (try #require(Int(words[1])), Int(try #require(Double(words[2]))))
        default: failures.append(words.joined(separator: " "))
        }
    }
}
