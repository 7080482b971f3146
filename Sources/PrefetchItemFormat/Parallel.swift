internal import Foundation
internal import PrefetchFileSystem
internal import Synchronization

/// The results of `work` for 0 ..< `count`, computed on as many threads as there are cores, and on this one alone where the
/// system starts no other.
package func inParallel<Result>(_ count: Int, _ work: (Int) -> Result) -> [Result] {
    guard count > 1 else { return (0..<count).map(work) }
    return withoutActuallyEscaping(work) { work in
        [Result](unsafeUninitializedCapacity: count) { buffer, initialized in
            // Safe to share: `ParallelRun` ends only after all iterations have finished, and each iteration
            // initialises only its own element.
            nonisolated(unsafe) let results = buffer
            nonisolated(unsafe) let work = work
            ParallelRun(count) { index in results.initializeElement(at: index, to: work(index)) }.perform()
            initialized = count
        }
    }
}

/// Indices that several threads take, one by one.
private final class ParallelRun: Sendable {
    private struct State: Sendable {
        var next = 0
        /// How many helpers are at work.
        var helpers = 0
        /// `nil` from the end on: nothing of it may outlive the call.
        var work: (@Sendable (Int) -> Void)?
    }

    private static let executor = BlockingExecutor()
    private static let cores = ProcessInfo.processInfo.activeProcessorCount

    private let count: Int
    private let state: UnfairMutex<State>
    private let isFree = DispatchSemaphore(value: 0)

    init(_ count: Int, _ work: @escaping @Sendable (Int) -> Void) {
        self.count = count
        state = UnfairMutex(State(work: work))
    }

    func perform() {
        for _ in 1..<max(2, min(count, Self.cores)) {
            Task.detached(executorPreference: Self.executor) { self.help() }
        }
        takeAll()
        let hasHelpers = state.withLock { state in
            state.work = nil
            return state.helpers > 0
        }
        if hasHelpers { isFree.wait() }
    }

    private func help() {
        let isAdmitted = state.withLock { state in
            if state.work != nil, state.next < count { state.helpers += 1 } else { return false }
            return true
        }
        guard isAdmitted else { return }
        takeAll()
        let isLast = state.withLock { state in
            state.helpers -= 1
            return state.helpers == 0 && state.work == nil
        }
        if isLast { isFree.signal() }
    }

    private func takeAll() {
        guard let work = state.withLock(\.work) else { return }
        while true {
            let index = state.withLock { state in
                defer { state.next += 1 }
                return state.next
            }
            guard index < count else { return }
            work(index)
        }
    }
}
