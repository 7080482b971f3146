import Foundation
import Testing

@testable import PrefetchCaching

/// What each call of the cache costs in calls of the system, SQLite's among them (all but its reads and flushes).
///
/// A change that makes one more, or one fewer, has to say so here. Of what each call costs the lower quartile of many
/// counts: background maintenance falls into some of them, on a busy machine into most.
@Suite struct SystemCallTests {
    private static let expected: [String: [String: Int]] = [
        // A folder of items, one of 256, is made when its first item is stored.
        // One of the writes lists the item for those who find this process dead, also where it is opened.
        "store": ["open": 1, "write": 2, "rename": 1, "attributes": 3, "makeDirectory": 1],
        "read": ["open": 1, "lock": 1, "read": 1],
        "open": [
            "open": 9, "read": 1, "write": 2, "rename": 3, "unlink": 1, "synchronize": 2, "lock": 4,
            "attributes": 17, "resize": 4,
            "extendedAttribute": 1, "noDump": 2, "sqlite-write": 6, "sqlite-lock": 14,
        ],
        // Of four items.
        "evict": [
            "open": 5, "read": 1, "write": 3, "unlink": 4, "lock": 5, "attributes": 16, "volume": 1,
            "access": 1, "sqlite-open": 1, "sqlite-write": 42, "sqlite-lock": 16,
        ],
        "statistics": ["entries": 1, "attributes": 4, "sqlite-lock": 7],
    ]

    @Test func everyCallCostsWhatItDid() throws {
        let costs = try Self.costs()
        for (call, expected) in Self.expected { #expect(costs[call] == expected, "\(call)") }
    }

    /// Called for items of 10,000 bytes that compress.
    private static func costs() throws -> [String: [String: Int]] {
        let container = try TemporaryContainer()
        let keys = (1...15).map { "\($0)" }
        let acts = ["store", "read", "open"]
        // The first of each does what only the first has to: folders and files are made. What is stored is stored before
        // there is a ledger: how it is asked depends on how long ago it was changed.
        let steps =
            acts.flatMap { act in (["first"] + keys).map { "\(act)=\($0)" } } + keys.map { _ in "statistics" }
            + (1...5).flatMap { round in (1...4).map { "store=\(round).\($0)" } + ["evict"] }
        let process = try PromotingProcess(["--calls"] + steps, in: container)
        #expect(process.failures == [])
        var counts: [String: [[String: Int]]] = [:]
        for (step, calls) in zip(steps, process.calls) where !step.hasSuffix("=first") {
            counts[String(step.prefix { $0 != "=" }), default: []].append(calls.counts)
        }
        return counts.mapValues { all in
            var quartiles: [String: Int] = [:]
            for name in Set(all.flatMap(\.keys)) {
                let sorted = all.map { $0[name] ?? 0 }.sorted()
                quartiles[name] = sorted[sorted.count / 4]
            }
            return quartiles.filter { $0.value > 0 }
        }
    }
}
