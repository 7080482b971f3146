public import Foundation

/// What is measured of several tasks at once, in the order in which one round does it.
public enum TasksJob: String, CaseIterable, Sendable {
    case store, read, promote
}

/// One way to have several tasks store, read and open the items of a workload at the same time, each its share.
public protocol TasksContender: AnyObject {
    /// A short name for tables.
    var name: String { get }

    /// How it was set up, in one line.
    var setup: String { get }

    /// The executor that the tasks prefer; `nil` for none.
    var executor: (any TaskExecutor)? { get }

    /// Sets up in an empty folder for the items of `workload`, of which each of `tasks` takes a share.
    func prepare(in directory: URL, for workload: Workload, tasks: Int) async throws

    /// Does a job for all items and returns when the last task is done.
    func run(_ job: TasksJob) async throws

    /// Lets go of what `prepare` opened. The folder itself is removed by the caller.
    func cleanup() async throws
}

extension TasksContender {
    public var executor: (any TaskExecutor)? { nil }
}

/// The contenders for several tasks at once.
public func tasksContenders() -> [any TasksContender] {
    [FloorTasksContender(), PrefetchCacheTasksContender()]
}

extension Workload {
    /// Its items, dealt out to `count` tasks in pieces of about the same length.
    func shares(_ count: Int) -> [Range<Int>] {
        (0..<count).map { contents.count * $0 / count..<contents.count * ($0 + 1) / count }
    }
}
