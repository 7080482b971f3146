import FileSystemTestSupport
import Foundation
import Testing

@testable import PrefetchCaching

/// Calls of several processes on one cache: one is stopped before each of its operations, while the others are made. Whatever
/// comes of it must also come of the calls made one after the other.
@Suite struct ExplorerTests {
    private static let filter = ProcessInfo.processInfo.environment["PREFETCHCACHE_EXPLORE"]

    /// Every two calls; with two keys only where there are items to confuse. `PREFETCHCACHE_EXPLORE` selects some, by what they
    /// print.
    private static let pairs: [Exploration] = {
        var pairs: [Exploration] = []
        for start in Exploration.Start.allCases {
            for relation in Exploration.Relation.allCases {
                let isOfUse =
                    switch start {
                    case .absent: relation == .sameKey
                    case .openedFirst: relation != .sameKey
                    case .lost: relation != .sameContent
                    case .cached, .opened: true
                    }
                guard isOfUse else { continue }
                let isBare = [.absent, .lost].contains(start)
                for isText in isBare ? [false] : relation == .sameKey ? [false, true] : [true] {
                    for first in ExploredCall.byProcess {
                        for second in ExploredCall.allCases {
                            pairs.append(
                                Exploration(
                                    start: start, relation: relation, isText: isText, calls: [first, second]))
                        }
                    }
                }
            }
        }
        if let filter { return pairs.filter { $0.description.contains(filter) } }
        return TestRun.isLong ? pairs : sample
    }()

    /// What the gate tries: the same in every run, so that it does not find by chance what somebody else has to mend.
    private static let sample: [Exploration] =
        [
            (.cached, false, [.open, .storeFile]), (.cached, true, [.store, .open]),
            (.opened, true, [.purge, .userSaves]),
        ].map { (start: Exploration.Start, isText: Bool, calls: [ExploredCall]) in
            Exploration(start: start, relation: .sameKey, isText: isText, calls: calls)
        }
        + [Exploration(start: .openedFirst, relation: .sameContent, isText: true, calls: [.delete, .open])]

    @Test(arguments: pairs) func twoCallsMayOverlap(calls: Exploration) throws {
        let judge = ExplorationJudge(calls)
        let (_, operations) = try calls.overlapping()
        let stops = Exploration.stops(operations)
        for stop in stops {
            let schedule = Exploration.Schedule(stops: [stop: ["B"]])
            let violation = try judge.violation(calls.overlapping(schedule).result, of: schedule, operations)
            try #require(violation == nil, "\(violation ?? "") at \(operations[stop])")
        }
        print("explored: \(calls): \(stops.count) of \(operations.count) steps")
    }

    @Test(.enabled(if: TestRun.isLong || filter != nil), arguments: pairs.filter { $0.relation == .sameKey })
    func aCallMayDieBesideAnother(calls: Exploration) throws {
        let judge = ExplorationJudge(calls)
        let (_, operations) = try calls.overlapping()
        let stops = Exploration.stops(operations)
        for stop in stops {
            let schedule = Exploration.Schedule(stops: [stop: ["B"]], dies: true)
            let violation = try judge.violation(calls.overlapping(schedule).result, of: schedule, operations)
            try #require(violation == nil, "\(violation ?? "") at \(operations[stop])")
        }
        print("died: \(calls): \(stops.count) of \(operations.count) steps")
    }

    /// Three calls, drawn by lot, of which two are made at two moments of the first.
    @Test(.enabled(if: TestRun.isLong && filter == nil)) func threeCallsMayOverlap() throws {
        var generator = SeededGenerator(seed: TestRun.seed)
        func any<Element>(_ elements: [Element]) throws -> Element {
            try #require(elements.randomElement(using: &generator))
        }
        for _ in 0..<5000 {
            let calls = Exploration(
                start: try any(Exploration.Start.allCases), relation: try any(Exploration.Relation.allCases),
                isText: try any([false, true]),
                calls: [
                    try any(ExploredCall.byProcess), try any(ExploredCall.allCases),
                    try any(ExploredCall.allCases),
                ])
            let (_, operations) = try calls.overlapping()
            let stops = Exploration.stops(operations)
            guard stops.count > 1 else { continue }
            var schedule = Exploration.Schedule()
            for (name, stop) in zip(["B", "C"], [try any(stops), try any(stops)].sorted()) {
                schedule.stops[stop, default: []].append(name)
            }
            let (result, steps) = try calls.overlapping(schedule)
            let violation = try ExplorationJudge(calls).violation(result, of: schedule, steps)
            #expect(violation == nil, "\(violation ?? "")")
        }
        print("three calls: 5000 schedules")
    }

    /// Without what a file system promises, the explorer finds what goes wrong.
    @Test(arguments: [
        (
            Weakness.looseLocks,
            Exploration(start: .cached, relation: .sameKey, isText: true, calls: [.open, .open])
        ),
        (
            .replacingRename,
            Exploration(start: .cached, relation: .sameName, isText: true, calls: [.open, .userSaves])
        ),
    ])
    func aBrokenPromiseIsFoundOut(weakness: Weakness, calls: Exploration) throws {
        let judge = ExplorationJudge(calls)
        let (_, operations) = try calls.overlapping()
        let isFound = try Exploration.stops(operations).contains { stop in
            let schedule = Exploration.Schedule(stops: [stop: ["B"]])
            do {
                return try judge.violation(
                    calls.overlapping(schedule, [weakness]).result, of: schedule, operations)
                    != nil
            } catch let error as CacheError {
                return "\(error)" != ""
            }
        }
        #expect(isFound)
    }
}
