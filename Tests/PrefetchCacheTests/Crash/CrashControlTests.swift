import FileSystemTestSupport
import Foundation
import Testing

@testable import PrefetchCaching

/// The crash tests can fail: without any one of its precautions promotion breaks its promises.
@Suite struct CrashControlTests {
    @Test(arguments: TestRun.sample(3, of: Breakage.needed))
    func isNeeded(breakage: Breakage) throws {
        // The one that is known to miss it comes first, and then those with similar names: the moments that some of them
        // name shift with the number of calls.
        let workloads = CrashWorkload.all.sorted {
            $0.name.commonPrefix(with: breakage.witness).count
                > $1.name.commonPrefix(with: breakage.witness).count
        }
        for workload in workloads {
            let kinds = try broken(breakage, workload)
            guard !kinds.isEmpty else { continue }
            print("without: \(breakage.name): \(kinds) at '\(workload.name)'")
            return
        }
        Issue.record("nobody misses it")
    }

    /// Named in the documentation, and kept for the reasons given there.
    @Test(arguments: Breakage.redundant)
    func isRedundant(breakage: Breakage) throws {
        for workload in TestRun.sample(2, of: Array(CrashWorkload.all.prefix(12))) {
            #expect(try broken(breakage, workload) == [], "\(workload.name)")
        }
    }

    private func broken(_ breakage: Breakage, _ workload: CrashWorkload) throws -> [String] {
        var enumeration = CrashEnumeration(workload: workload, seed: 1, breakage: breakage)
        enumeration.choices = min(enumeration.choices, 16)
        enumeration.secondCrashes = 0
        do {
            return try enumeration.run().broken.keys.map(\.rawValue).sorted()
        } catch let error as CacheError {
            // Not even without a crash.
            return ["\(error)"]
        }
    }
}
