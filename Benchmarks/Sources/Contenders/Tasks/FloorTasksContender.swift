public import Foundation
import Synchronization

/// As many floors as there are tasks, each on a thread and in folders of its own: they share nothing.
public final class FloorTasksContender: TasksContender {
    public let name = "floor"
    public let setup = "the floor of one task on as many threads, each in folders of its own"
    private var floors: [Share] = []

    /// A floor and its items, for one thread at a time.
    private final class Share: Sendable {
        private let floor: Mutex<FloorContender>
        private let workload: Workload

        init(_ workload: Workload, in directory: URL) throws {
            self.workload = workload
            let floor = FloorContender()
            try floor.prepare(in: directory, for: workload)
            self.floor = Mutex(floor)
        }

        /// The lock is taken once for all items, and nobody waits for it.
        func run(_ job: TasksJob) throws {
            try floor.withLock { floor in
                for (index, content) in workload.contents.enumerated() {
                    switch job {
                    case .store: try floor.store(index, content)
                    case .read:
                        guard try floor.read(index) == workload.size else { throw ContenderError.missing }
                    case .promote: try floor.promote(index)
                    }
                }
            }
        }
    }

    public init() {}

    public func prepare(in directory: URL, for workload: Workload, tasks: Int) throws {
        floors = try workload.shares(tasks).enumerated().map { task, items in
            let folder = directory.appending(path: "\(task)")
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
            return try Share(workload.part(items), in: folder)
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
