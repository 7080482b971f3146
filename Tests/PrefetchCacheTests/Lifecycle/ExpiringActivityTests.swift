import Foundation
import Synchronization
import Testing

@testable import PrefetchCaching

/// Work that the system lets a process finish, and what becomes of it when the time is up.
@Suite struct ExpiringActivityTests {
    private let container = TemporaryContainer.make()

    /// What the system does with an activity.
    private final class System: Sendable {
        typealias Block = @Sendable (_ isExpired: Bool) -> Void

        private let state = Mutex((reasons: [String](), block: Block?.none, returned: 0))

        var reasons: [String] { state.withLock { $0.reasons } }
        /// How many calls of the block have returned: after the first the process may be suspended.
        var returned: Int { state.withLock { $0.returned } }

        /// - Parameter isGranted: Whether any time is given.
        func perform(isGranted: Bool = true) -> PerformExpiringActivity {
            { reason, block in
                self.state.withLock { state in
                    state.reasons.append(reason)
                    state.block = block
                }
                self.call(isExpired: !isGranted)
            }
        }

        func expire() { call(isExpired: true) }

        private func call(isExpired: Bool) {
            guard let block = state.withLock({ $0.block }) else { return }
            Thread.detachNewThread {
                block(isExpired)
                self.state.withLock { $0.returned += 1 }
            }
        }
    }

    private func cache(_ perform: PerformExpiringActivity?) async throws -> PrefetchCache {
        var environment = CacheEnvironment.live()
        environment.performExpiringActivity = perform
        let cache = try await PrefetchCache(areas: container.areas(), environment: environment)
        try await cache.store(prose(1000), as: ItemMetadata("key"))
        return cache
    }

    @Test func itLastsAsLongAsTheWork() async throws {
        let system = System()
        let cache = try await cache(system.perform())
        let content = try await cache.withExpiringActivity(reason: "Reading") {
            for _ in 0..<1000 { await Task.yield() }
            #expect(system.returned == 0)
            return try await cache.read("key")
        }
        #expect(content == prose(1000))
        while system.returned < 1 { await Task.yield() }
        #expect(system.reasons == ["Reading"])
        // Too late to matter.
        system.expire()
        while system.returned < 2 { await Task.yield() }
        #expect(try await !cache.isSuspended)
        try await cache.close()
    }

    @Test(arguments: [true, false])
    func theCacheIsSuspendedBeforeTheProcessIs(isGranted: Bool) async throws {
        let system = System()
        let cache = try await cache(system.perform(isGranted: isGranted))
        let content = try await cache.withExpiringActivity(reason: "Reading") {
            if isGranted { system.expire() }
            while system.returned < 1 { await Task.yield() }
            #expect(try await cache.isSuspended)
            #if os(Linux)
                #expect(try HeldFiles(of: container).isEmpty)
            #endif
            async let content = cache.read("key")
            try await cache.resume()
            return try await content
        }
        #expect(content == prose(1000))
        while system.returned < (isGranted ? 2 : 1) { await Task.yield() }
        try await cache.close()
    }

    /// The time is up in the middle of a call, and the work ends with it.
    @Test func workThatEndsMeanwhileDoesNotEndItEarly() async throws {
        let system = System()
        let cache = try await cache(system.perform())
        let engine = try await cache.engine.running().engine
        let lookup = try await cache.withExpiringActivity(reason: "Reading") {
            try await cache.stream("key") { _ in
                system.expire()
                while engine.usage.isOpen { sched_yield() }
            }
        }
        #expect(lookup.value != nil)
        while system.returned < 1 { await Task.yield() }
        #expect(try await cache.isSuspended)
        #if os(Linux)
            #expect(try HeldFiles(of: container).isEmpty)
        #endif
        try await cache.close()
    }

    @Test func whereNothingIsSuspendedTheWorkJustRuns() async throws {
        let cache = try await cache(nil)
        #expect(try await cache.withExpiringActivity(reason: "Reading") { try await cache.contains("key") })
        await #expect(throws: CancellationError.self) {
            try await cache.withExpiringActivity(reason: "Failing") { throw CancellationError() }
        }
        try await cache.close()
    }
}
