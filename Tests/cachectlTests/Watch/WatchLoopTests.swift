import PrefetchCaching
import Testing

@testable import cachectl

/// The loop, with a time that goes on only while it waits or samples.
@Suite struct WatchLoopTests {
    private final class World {
        var time = Duration.zero
        var samples: [Duration] = []
        var shown = 0
        var redrawn = 0
        var suspended = 0
        var waits: [Duration] = []
        /// What ends the waits, in their order; after them their time is over.
        var wakes: [WatchWake] = []
        var sampleTakes = Duration.zero
        var failure: CommandFailure?
    }

    private let world = World()

    private func run(count: Int? = nil) async throws -> WatchLoop.End {
        let world = world
        return try await WatchLoop(
            interval: .seconds(1), count: count, uptime: { world.time },
            sample: {
                if let failure = world.failure { throw failure }
                world.samples.append(world.time)
                world.time += world.sampleTakes
                return .sample(
                    world.samples.count == 1 ? [] : [.sample(.stored, "k")],
                    second: Int64(world.samples.count))
            },
            show: { _, events, all in
                world.shown += 1
                #expect(events.count == (world.shown == 1 ? 0 : 1))
                #expect(all.count == world.shown - 1)
            },
            redraw: { _, _ in world.redrawn += 1 },
            wait: { duration in
                world.waits.append(duration)
                guard world.wakes.isEmpty else { return world.wakes.removeFirst() }
                world.time += duration
                return .due
            },
            suspend: { world.suspended += 1 }
        ).run()
    }

    @Test func looksAreAnIntervalApart() async throws {
        world.sampleTakes = .milliseconds(300)
        #expect(try await run(count: 3) == .done)
        #expect(world.samples == [.zero, .seconds(1), .seconds(2)])
        #expect(world.shown == 3)
        #expect(world.waits == [.milliseconds(700), .milliseconds(700)])
    }

    @Test func looksThatTakeLongLeaveTheCacheAloneForAsLong() async throws {
        world.sampleTakes = .seconds(3)
        _ = try await run(count: 2)
        #expect(world.samples == [.zero, .seconds(6)])
    }

    @Test(arguments: [
        (WatchWake.quit, WatchLoop.End.done), (.brokenPipe, .done), (.signal(15), .signal(15)),
    ])
    func itEnds(_ wake: WatchWake, _ end: WatchLoop.End) async throws {
        world.wakes = [wake]
        #expect(try await run() == end)
        #expect(world.samples.count == 1)
    }

    @Test func aNewSizeIsDrawnWithoutAnotherLook() async throws {
        world.wakes = [.resized, .resized, .suspend, .quit]
        _ = try await run()
        #expect(world.samples.count == 1)
        #expect(world.redrawn == 3)
        #expect(world.suspended == 1)
    }

    @Test func aWaitThatEndsEarlyIsGoneOnWith() async throws {
        world.wakes = [.due]
        _ = try await run(count: 2)
        #expect(world.samples == [.zero, .seconds(1)])
        #expect(world.waits.count == 2)
    }

    @Test func aFailureEndsIt() async {
        world.failure = CommandFailure(.inputOutput, "x")
        await #expect(throws: CommandFailure(.inputOutput, "x")) { try await run() }
    }
}
