internal import FileSystemTestSupport
internal import Foundation
internal import PrefetchCaching

/// One task that calls operations at random, each in a task of its own, of which some are cancelled.
struct APICaller {
    private let cache: PrefetchCache
    private let container: String
    private var generator: SeededGenerator
    private(set) var report = APIReport()

    init(_ cache: PrefetchCache, inContainer container: String, seed: UInt64) {
        self.cache = cache
        self.container = container
        generator = SeededGenerator(seed: seed)
    }

    mutating func work(until deadline: ContinuousClock.Instant) async {
        while ContinuousClock.now < deadline {
            do {
                try await callOne()
            } catch {
                report.faults.append("\(error)")
            }
        }
    }

    mutating func workUntilClosed() async {
        while true {
            do {
                try await callOne()
            } catch CacheError.closed {
                return
            } catch {
                report.faults.append("while it is closed: \(error)")
            }
        }
    }

    private mutating func callOne() async throws {
        guard let operation = APICall.Operation.drawn(using: &generator) else { return }
        report.calls[operation.rawValue, default: 0] += 1
        let call = APICall(cache, inContainer: container, seed: generator.next())
        let task = Task { try await call.run(operation) }
        let isCancelled = Int.random(in: 0..<6, using: &generator) == 0
        if isCancelled {
            report.cancelled += 1
            for _ in 0..<Int.random(in: 0..<50, using: &generator) { await Task.yield() }
            task.cancel()
        }
        do {
            let wrong = try await task.value
            report.wrong += wrong.count
            report.faults += wrong.map { "\(operation.rawValue): \($0)" }
        } catch CacheError.cancelled where isCancelled {
            return
        } catch CacheError.closed {
            throw CacheError.closed
        } catch {
            report.faults.append("\(operation.rawValue): \(error)")
        }
    }
}
