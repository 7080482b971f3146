import FileSystemTestSupport
import Foundation
import Testing

@testable import PrefetchCaching

/// Any two calls of two processes: the first is stopped before each of its operations while the second is made.
@Suite struct ExplorerTests {
    @Test func explore() throws {
        let environment = ProcessInfo.processInfo.environment
        let wanted = environment["EXPLORE"]?.split(separator: ",").map(String.init) ?? []
        var (count, pairs) = (0, 0)
        let clock = ContinuousClock()
        let begin = clock.now
        for start in Exploration.Start.allCases {
            for (relation, isText) in Exploration.Relation.allCases.flatMap({ [($0, false), ($0, true)] }) {
                if isText, start == .absent { continue }
                for first in ExploredCall.byProcess {
                    for second in ExploredCall.allCases {
                        let exploration = Exploration(
                            start: start, relation: relation, isText: isText, calls: [first, second])
                        guard wanted.isEmpty || wanted.allSatisfy({ exploration.description.contains($0) })
                        else { continue }
                        count += try explore(exploration)
                        pairs += 1
                    }
                }
            }
        }
        print("explored \(pairs) pairs, \(count) schedules in \(clock.now - begin)")
    }

    private func explore(_ exploration: Exploration) throws -> Int {
        var expected: [[String]: Set<Exploration.Result>] = [[]: try exploration.expected(without: [])]
        let (_, operations) = try exploration.overlapping(.init())
        var last: Exploration.Result?
        if ProcessInfo.processInfo.environment["EXPLORE_OPERATIONS"] != nil {
            for (number, operation) in operations.enumerated() { print("  \(number) \(operation)") }
        }
        var hasTold = false
        for stop in Exploration.stops(operations) {
            let (result, _) = try exploration.overlapping(.init(stops: [stop: ["B"]]))
            var absent = result.isBusy.sorted()
            if expected[absent] == nil { expected[absent] = try exploration.expected(without: absent) }
            var compared = result
            for name in absent { compared.outcomes[name] = nil }
            absent = []
            guard expected.values.allSatisfy({ !$0.contains(compared) }), result != last else { continue }
            last = result
            print("VIOLATION \(exploration), stopped before \(stop) \(operations[stop]):\n\(result)")
            guard !hasTold else { continue }
            hasTold = true
            for (absent, results) in expected {
                for result in results { print("  expected without \(absent):\n\(result)") }
            }
        }
        return Exploration.stops(operations).count
    }
}
