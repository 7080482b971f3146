import FileSystemTestSupport
import Foundation
import PrefetchFileSystem
import SystemPackage
import Testing

@testable import PrefetchCaching

/// Promotion, with a fault at every operation: once, or from there on. The app tries again, and then
/// the power goes.
@Suite struct FaultTests {
    private static let faults: [Errno] = [
        .ioError, .noSpace, .interrupted, .tooManyOpenFiles, .permissionDenied,
    ]

    /// One fault, and when.
    private struct Fault {
        let number: Int
        /// `nil`: no call fails, but a write takes only a part.
        let errno: Errno?
        let isSticky: Bool
    }

    @Test func noFaultLosesDuplicatesTearsOrOverwrites() async throws {
        let workloads = TestRun.sample(6, of: CrashWorkload.all.filter { !$0.isBeside })
        let outcomes = try await withThrowingTaskGroup { group in
            for workload in workloads { group.addTask { try Self.outcome(of: workload) } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        var total = CrashEnumeration.Outcome()
        for outcome in outcomes {
            #expect(outcome.reports == [])
            total.add(outcome)
        }
        print("faults: \(workloads.count) workloads, \(total)")
        #expect(total.states >= TestRun.count(short: 20, long: 5000))
    }

    private static func outcome(of workload: CrashWorkload) throws -> CrashEnumeration.Outcome {
        let start = try workload.start()
        var outcome = CrashEnumeration.Outcome()
        for errno in faults.map(Optional.some) + [nil] {
            for isSticky in [false, true] {
                // Until the workload has ended before it came to the fault.
                for number in TestRun.numbers(every: 50) {
                    let fault = Fault(number: number, errno: errno, isSticky: isSticky)
                    guard try inject(fault, start, workload, &outcome) else { break }
                }
            }
        }
        return outcome
    }

    /// - Returns: Whether the fault came to pass.
    private static func inject(
        _ fault: Fault, _ start: SimulatedDisk, _ workload: CrashWorkload,
        _ outcome: inout CrashEnumeration.Outcome
    ) throws -> Bool {
        let world = SimulatedWorld(start)
        let count = CallCounter()
        let operations = OperationLog()
        let isHit: OperationTest = { operation in
            let number = count.next()
            if number <= fault.number { operations.add(operation) }
            return number == fault.number || (fault.isSticky && number > fault.number)
        }
        world.fileSystem.shorten { fault.errno == nil && isHit($0) }
        world.fileSystem.intercept { operation throws(FileSystemError) in
            guard let errno = fault.errno, operation.mayFail(with: errno), isHit(operation) else { return }
            throw FileSystemError("\(operation)", errno: errno)
        }
        // What fails, fails with an error; whether it was right to is for the judge to say.
        attempt(workload, world)
        world.fileSystem.intercept { _ in }
        world.fileSystem.shorten { _ in false }
        guard count.next() > fault.number else { return false }

        // The same process tries again, and then the power goes.
        attempt(workload, world)
        let end = try #require(world.fileSystem.history.moments.last)
        for crash in [Crash.kill(end)] + end.leastDisks.map({ .power($0) }) {
            outcome.states += 1
            do {
                try workload.judge(SimulatedWorld(crash, .none), world.fileSystem.history.notes[...])
            } catch {
                if outcome.broken[error.kind] == nil {
                    let list = operations.operations.map(\.description).joined(separator: "\n    ")
                    outcome.reports.append("\(error)\n  '\(workload.name)', \(fault)\n    \(list)")
                }
                outcome.broken[error.kind, default: 0] += 1
            }
        }
        return true
    }

    private static func attempt(_ workload: CrashWorkload, _ world: SimulatedWorld) {
        do {
            try workload.run(world)
        } catch is CacheError {
            return
        } catch is FileSystemError {
            // A step that is the test's own.
            return
        } catch {
            Issue.record(error)
        }
    }
}

extension FileSystemTestSupport.Operation {
    /// Whether the kernel could answer with such an error.
    fileprivate func mayFail(with errno: Errno) -> Bool {
        switch errno {
        case .noSpace:
            [.write, .makeDirectory, .rename, .resize, .synchronize, .allocate, .commit].contains(kind)
                || kind == .open
        case .tooManyOpenFiles: [.open, .entries].contains(kind)
        case .permissionDenied: [.open, .makeDirectory, .rename, .unlink, .access].contains(kind)
        default: true
        }
    }
}
