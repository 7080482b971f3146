import FileSystemTestSupport
import Foundation
import Testing

@testable import PrefetchCaching

/// Promotion, stopped after every operation, with every loss that a power cut allows.
@Suite struct CrashTests {
    /// `workload:seed:steps` of one crash that is to be run again alone, or `workload` for all of one.
    private static let again = ProcessInfo.processInfo.environment["PREFETCHCACHE_CRASH"]?
        .split(separator: ":").map(String.init)

    @Test(.enabled(if: again == nil)) func nothingIsLostDuplicatedTornOrOverwritten() async throws {
        let outcomes = try await withThrowingTaskGroup { group in
            for workload in TestRun.sample(4, of: CrashWorkload.all) {
                group.addTask {
                    (workload, try CrashEnumeration(workload: workload, seed: TestRun.seed).run())
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        var total = CrashEnumeration.Outcome()
        for (workload, outcome) in outcomes {
            #expect(outcome.reports == [], "\(workload.name)")
            #expect(outcome.states > 0, "\(workload.name)")
            total.add(outcome)
        }
        print("crashes: \(outcomes.count) workloads, \(total)")
        #expect(total.states >= TestRun.count(short: 40, long: 20_000))
    }

    @Test(.enabled(if: again != nil, "Repeats one state: PREFETCHCACHE_CRASH.")) func oneCrashAgain() throws {
        let again = try #require(Self.again)
        let workload = try #require(CrashWorkload.all.first { $0.name == again[0] })
        let seed = again.count > 1 ? UInt64(again[1]) : nil
        let names = again.count > 2 ? again[2].split(separator: "/") : nil
        let steps = names?.compactMap { Step($0) }
        let outcome = try CrashEnumeration(workload: workload, seed: seed ?? TestRun.seed).run(only: steps)
        print("crashes, \(workload.name): \(outcome)")
        #expect(outcome.reports == [])
        if let names { #expect(outcome.states == names.count, "there is no such state any more") }
    }
}
