import Contenders
import Foundation

/// Two caches that differ in their budget alone store the same items, turn by turn, so that a machine
/// whose speed drifts hits them alike.
struct Race {
    /// Items that one stores before it is the other's turn.
    static let turn = 500

    let workload: Workload
    let folder: URL

    /// Microseconds per item.
    struct Result {
        var live = 0.0
        var none = 0.0
    }

    func run(_ round: Int, emptying workspace: Workspace) async throws -> Result {
        let home = folder.appending(path: "round \(round)")
        let live = try await prepared(.live, in: home)
        let none = try await prepared(.none, in: home)
        var result = Result()
        for (turn, start) in stride(from: 0, to: workload.contents.count, by: Self.turn).enumerated() {
            let items = start..<min(start + Self.turn, workload.contents.count)
            if (turn + round).isMultiple(of: 2) {
                result.live += try await store(items, in: live)
                result.none += try await store(items, in: none)
            } else {
                result.none += try await store(items, in: none)
                result.live += try await store(items, in: live)
            }
        }
        try await live.cleanup()
        try await none.cleanup()
        workspace.empty(home)
        result.live /= Double(workload.contents.count)
        result.none /= Double(workload.contents.count)
        return result
    }

    private func prepared(
        _ budget: PrefetchCacheContender.Budget, in home: URL
    ) async throws -> PrefetchCacheContender {
        let contender = PrefetchCacheContender(budget: budget)
        let directory = home.appending(path: contender.name)
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        try await contender.prepare(in: directory, for: workload)
        return contender
    }

    private func store(_ items: Range<Int>, in contender: PrefetchCacheContender) async throws -> Double {
        let elapsed = try await withTaskExecutorPreference(contender.executor) {
            try await ContinuousClock().measure {
                for index in items { try await contender.store(index, workload.contents[index]) }
            }
        }
        return elapsed / .microseconds(1)
    }
}
