import Dispatch
import Foundation
import Synchronization
import Testing

@testable import PrefetchCache

/// Nobody takes the threads that others need.
@Suite struct ThreadsTests {
    /// Keeps work from ending until the test says so, or has failed.
    private final class Gate: Sendable {
        private let isOpen = Atomic(false)
        private let deadline = ContinuousClock.now + .seconds(20)

        func open() { isOpen.store(true, ordering: .relaxed) }

        /// - Returns: Whether it was opened in time.
        @discardableResult
        func compute() -> Bool {
            while !isOpen.load(ordering: .relaxed) {
                guard ContinuousClock.now < deadline else { return false }
            }
            return true
        }
    }

    private let container: TemporaryContainer
    private let gate = Gate()

    init() throws {
        container = try TemporaryContainer()
    }

    /// As many as leave no processor, and no thread of Dispatch, without one.
    private var hogs: Int { ProcessInfo.processInfo.activeProcessorCount }

    @Test func tasksThatComputeOnTheExecutorDelayNobody() async throws {
        let cache = try await container.cache()
        _ = try await cache.store(Data([1, 2, 3]), as: ItemMetadata("key"))
        let gate = gate
        let wereReleased = try await withThrowingTaskGroup(of: Bool.self) { group in
            for _ in 0..<hogs { group.addTask(executorPreference: cache.executor) { gate.compute() } }
            group.addTask {
                let content = try await cache.read("key")
                #expect(content == Data([1, 2, 3]))
                _ = try await cache.store(Data([4]), as: ItemMetadata("other"))
                let statistics = try await cache.statistics()
                #expect(statistics.items == 2)
                gate.open()
                return true
            }
            return try await group.allSatisfy { $0 }
        }
        #expect(wereReleased)
        try await cache.close()
    }

    @Test func maintenanceRunsBesideTasksThatCompute() async throws {
        let cache = try await container.cache()
        let gate = gate
        let wereReleased = try await withThrowingTaskGroup(of: Bool.self) { group in
            for _ in 0..<hogs { group.addTask(executorPreference: cache.executor) { gate.compute() } }
            group.addTask {
                _ = try await cache.store(Data([1]), as: ItemMetadata("key"))
                while cache.engine.hasPendingChanges, !Task.isCancelled { await Task.yield() }
                gate.open()
                return true
            }
            return try await group.allSatisfy { $0 }
        }
        #expect(wereReleased)
        try await cache.close()
    }

    /// Calls that wait until the test lets them go on.
    private final class Waiters: Sendable {
        private let begun = Atomic(0)
        private let held = DispatchSemaphore(value: 0)

        var count: Int { begun.load(ordering: .relaxed) }

        func wait() {
            begun.add(1, ordering: .relaxed)
            held.wait()
        }

        func release(_ count: Int) {
            for _ in 0..<count { held.signal() }
        }
    }

    @Test func callsThatWaitForTheCatalogLeaveReadsTheirThreads() async throws {
        let cache = try await container.cache()
        _ = try await cache.store(Data([1, 2, 3]), as: ItemMetadata("key"))
        let waiters = Waiters()
        let calls = 2 * BlockingExecutor.width
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<calls {
                group.addTask { try await cache.run { _ throws(CacheError) in waiters.wait() } }
            }
            defer { waiters.release(calls) }
            while waiters.count < BlockingExecutor.width { await Task.yield() }
            let content = try await cache.read("key")
            #expect(content == Data([1, 2, 3]))
            let isThere = try await cache.contains("key")
            #expect(isThere)
            #expect(waiters.count == BlockingExecutor.width)
        }
        #expect(waiters.count == calls)
        try await cache.close()
    }

    @Test func callsOfATaskThatPrefersTheExecutorStayOnItsThread() async throws {
        let cache = try await container.cache()
        try await withTaskExecutorPreference(cache.executor) {
            for _ in 0..<100 {
                let before = pthread_self()
                let during = try await cache.run { _ throws(CacheError) in pthread_self() }
                #expect(before == during)
            }
        }
        #expect(try await cache.run { _ throws(CacheError) in Thread.isMainThread } == false)
        try await cache.close()
    }
}
