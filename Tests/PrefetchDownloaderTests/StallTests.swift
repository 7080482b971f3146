import Foundation
import HTTPTestServer
import Testing

@testable import PrefetchDownloading

/// Servers that send next to nothing.
@Suite struct StallTests {
    private static let limit = SpeedLimit(.seconds(64), lowestSpeed: 1024)

    /// After how many spans of 4 seconds a body is given up of which so many bytes arrive in each; `nil` if it is not.
    private func spans(_ bytes: [Int], isAwaited: Bool = false) async throws -> Int? {
        let exchange = Exchange(nil)
        exchange.receive(ResponseHead(status: 200, fields: []))
        _ = try await exchange.head()
        defer { exchange.cancel() }
        for (index, count) in bytes.enumerated() {
            let reader = Task { try await exchange.next()?.count }
            while !exchange.isAwaited { await Task.yield() }
            exchange.endSpan(Self.limit) { isAwaited }
            if exchange.isOver {
                let reason = DownloadError.Reason.stalled(isAwaited ? .seconds(32) : .seconds(64))
                await #expect(throws: reason) { try await reader.value }
                return index
            }
            _ = exchange.receive(Data(count: count))
            #expect(try await reader.value == count)
        }
        return nil
    }

    @Test func aServerThatTricklesIsGivenUp() async throws {
        // The first span is not a whole one.
        #expect(try await spans(Array(repeating: 4094, count: 40)) == 16)
        #expect(try await spans(Array(repeating: 4096, count: 40)) == nil)
        #expect(try await spans(Array(repeating: 1, count: 40), isAwaited: true) == 8)
        #expect(try await spans([1, 1, 1, 1, 1, 70_000] + Array(repeating: 1, count: 40)) == 22)
    }

    @Test func anAnswerMayTakeLongToMake() {
        #expect(Self.limit.stall(after: Array(repeating: 0, count: 15)) { false } == nil)
        #expect(Self.limit.stall(after: Array(repeating: 0, count: 16)) { false } == .seconds(64))
        #expect(Self.limit.stall(after: Array(repeating: 0, count: 8)) { true } == .seconds(32))
        let none = SpeedLimit(.seconds(64), lowestSpeed: 0)
        #expect(none.stall(after: [1] + Array(repeating: 0, count: 15)) { false } == nil)
        #expect(none.stall(after: Array(repeating: 0, count: 16)) { false } == .seconds(64))
    }

    @Test func aSlotIsAwaitedByThoseWhoCouldHaveIt() {
        func entry(_ number: Int, _ host: String) -> SlotQueue.Entry {
            SlotQueue.Entry(number: number, host: host, isRequested: false, priority: 0)
        }
        var queue = SlotQueue(limit: 3, limitPerHost: 1)
        for (number, host) in ["a", "a", "b"].enumerated() { queue.add(entry(number, host)) }
        #expect(queue.start().count == 2)
        #expect(queue.isAwaited("a") && !queue.isAwaited("b"))
        queue.startsOnlyRequested = true
        #expect(!queue.isAwaited("a"))
        queue.startsOnlyRequested = false
        queue.add(entry(3, "c"))
        #expect(queue.start().count == 1)
        #expect(queue.isAwaited("b"))
    }
}
