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
        let run = try BuiltProduct.run(
            "testprograms", ["promote", "--container", container.root.path] + arguments)
        wasKilled = run.wasKilled
        if !wasKilled, run.status != 0 { failures.append("ended with \(run.status), \(run.errors)") }
        let text = String(decoding: run.output, as: UTF8.self)
        for line in text.split(separator: "\n") { try note(line.split(separator: "\t").map(String.init)) }
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
