import Foundation
import Testing

@testable import PrefetchCaching

/// What a listener is told.
@Suite struct EventTests {
    private let container = TemporaryContainer.make()
    private let engine: Engine

    init() throws { engine = try container.engine() }

    /// What happened to the cache while `body` ran.
    private func events(_ engine: Engine, _ body: () throws -> Void) async throws -> [CacheEvent] {
        let stream = engine.events.stream()
        try body()
        engine.events.finish()
        var events: [CacheEvent] = []
        for await event in stream { events.append(event) }
        return events
    }

    @Test func whatIsRemovedIsReportedOnce() async throws {
        try engine.store(prose(1000), "key")
        var removed: [Bool] = []
        let events = try await events(engine) {
            for _ in 0..<2 { removed.append(try engine.remove("key")) }
        }
        #expect(removed == [true, false])
        #expect(events == [.removed("key")])
    }

    @Test func whatIsForgottenIsReportedOnce() async throws {
        try engine.store(prose(1000), "key")
        _ = try engine.open("key")
        var forgotten: [Bool] = []
        let events = try await events(engine) {
            for _ in 0..<2 { forgotten.append(try engine.forget("key")) }
        }
        #expect(forgotten == [true, false])
        #expect(events == [.forgotten("key")])
    }

    @Test(arguments: [false, true])
    func whatIsFoundExpiredIsReportedOnce(isOpened: Bool) async throws {
        try engine.store(prose(1000), as: ItemMetadata("key", expiresAt: 1_700_000_060_000))
        let late = try container.engine(now: { 1_700_000_060_000 })
        let events = try await events(late) {
            if isOpened { _ = try late.open("key") } else { _ = try late.read("key", nil) }
            _ = try late.read("key", nil)
        }
        #expect(events == [.expired("key")])
    }

    @Test(arguments: [0, 1, 500])
    func aListenerThatFallsBehindIsToldHowManyItLost(lost: Int) async throws {
        engine.events.send(.removed("before"))
        var expected = (0..<EventHub.backlog + lost).map { CacheEvent.catalogRebuilt(items: $0) }
        let events = try await events(engine) {
            for event in expected { engine.events.send(event) }
        }
        if lost > 0 { expected.replaceSubrange(..<lost, with: [.eventsLost(lost)]) }
        #expect(events == expected)
    }

    /// Its stream ends while the event is handed over, on the same thread.
    @Test func aListenerThatLeavesWithAnEventHoldsUpNobody() async throws {
        let listener = Task(executorPreference: AtOnce()) { [stream = engine.events.stream()] in
            for await event in stream { return event }
            return CacheEvent.removed("nothing")
        }
        for key in ["key", "other"] as [ItemKey] { engine.events.send(.removed(key)) }
        #expect(await listener.value == .removed("key"))
    }

    /// Runs what becomes ready on the thread that makes it so.
    private final class AtOnce: TaskExecutor {
        func enqueue(_ job: consuming ExecutorJob) {
            UnownedJob(job).runSynchronously(on: asUnownedTaskExecutor())
        }
    }

    @Test func aListenerThatIsGoneIsNotKept() async throws {
        let gone = Task { [stream = engine.events.stream()] in
            for await _ in stream { Issue.record("an event") }
        }
        gone.cancel()
        await gone.value
        engine.events.send(.removed("key"))
    }

    @Test func aNewCacheHasNoRebuiltCatalog() async throws {
        let events = try await events(engine) {
            try engine.store(prose(1000), "key")
            try engine.flush()
        }
        #expect(events.count == 1)
        guard case .stored("key", _)? = events.first else { Issue.record("\(events)"); return }
    }

    @Test func aLostCatalogIsReported() async throws {
        try engine.store(prose(1000), "key")
        try engine.close()
        try container.catalog.remove()
        let next = try container.engine()
        let events = try await events(next) { _ = try next.items() }
        #expect(events == [.catalogRebuilt(items: 1)])
    }
}
