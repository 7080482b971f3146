import FileSystemTestSupport
import Foundation
import Synchronization
import Testing

@testable import PrefetchCache

/// Promotion, stopped after every operation, with every loss that a power cut allows.
@Suite struct CrashTests {
    private static let seed: UInt64 = 20_240_607
    private static let total = Mutex(0)

    /// `workload:seed:steps` of one crash that is to be run again alone, or `workload` for all of one.
    private static let again = ProcessInfo.processInfo.environment["PREFETCHCACHE_CRASH"]?
        .split(separator: ":").map(String.init)

    @Test(arguments: CrashWorkload.all)
    func nothingIsLostDuplicatedTornOrOverwritten(workload: CrashWorkload) throws {
        if let again = Self.again {
            guard again[0] == workload.name else { return }
            let seed = again.count > 1 ? UInt64(again[1]) : nil
            let steps = again.count > 2 ? again[2].split(separator: "/").compactMap { Step($0) } : nil
            let outcome = try CrashEnumeration(workload: workload, seed: seed ?? Self.seed).run(only: steps)
            print("crashes, \(workload.name): \(outcome.states) states, \(outcome.broken)")
            #expect(outcome.reports == [])
            return
        }
        let outcome = try CrashEnumeration(workload: workload, seed: Self.seed).run()
        #expect(outcome.reports == [])
        #expect(outcome.states > 50)
        let total = Self.total.withLock { total in
            total += outcome.states
            return total
        }
        print("crashes, \(workload.name): \(outcome.states) states, \(outcome.broken); \(total) in all")
    }
}
