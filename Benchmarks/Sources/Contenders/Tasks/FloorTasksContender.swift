public import Foundation
import Synchronization

/// As many floors as there are tasks, each on a thread and in folders of its own: they share nothing.
public final class FloorTasksContender: TasksContender {
    public let name = "floor"
    public let setup = "the floor of one task on as many threads, each in folders of its own"
    private var floors: [Share] = []

    /// A floor and its items. Only one thread at a time uses it: its own, or the one that waits for that.
    private final class Share: @unchecked Sendable {
        let floor = FloorContender()
        let workload: Workload

        init(_ workload: Workload) {
            self.workload = workload
        }

        func run(_ job: TasksJob) throws {
            for (index, content) in workload.contents.enumerated() {
                switch job {
                case .store: try floor.store(index, content)
                case .read:
                    guard try floor.read(index) == workload.size else { throw ContenderError.missing }
                }
            }
        }
    }

    public init() {}

    public func prepare(in directory: URL, for workload: Workload, tasks: Int) throws {
        floors = try workload.shares(tasks).enumerated().map { task, items in
            let folder = directory.appending(path: "\(task)")
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
            let share = Share(workload.part(items))
            try share.floor.prepare(in: folder, for: share.workload)
            return share
        }
    }

    public func run(_ job: TasksJob) async throws {
        let outcome = Outcome(of: floors.count)
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
            for share in floors {
                Thread.detachNewThread {
                    let result = Result { try share.run(job) }
                    if let all = outcome.add(result) { continuation.resume(with: all) }
                }
            }
        }
    }

    public func cleanup() {
        floors = []
    }

    /// What became of all threads, once the last is done.
    private final class Outcome: Sendable {
        private let state: Mutex<(left: Int, all: Result<Void, any Error>)>

        init(of count: Int) {
            state = Mutex((count, .success(())))
        }

        func add(_ result: Result<Void, any Error>) -> Result<Void, any Error>? {
            state.withLock { state in
                state.left -= 1
                if case .failure = result { state.all = result }
                return state.left == 0 ? state.all : nil
            }
        }
    }
}
