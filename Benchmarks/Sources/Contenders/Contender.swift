public import Foundation

/// One way to store, read, promote and evict the items of a workload, side by side with others.
///
/// `store`, `read`, `promote` and `evict` are what is measured. The first three are called once per item,
/// and each does the whole of its job before it returns. A contender is used by one task.
public protocol Contender: AnyObject {
    /// A short name for tables.
    var name: String { get }

    /// How it was set up, in one line.
    var setup: String { get }

    /// How many items it is measured with, where it is so slow that more would say nothing new; `nil` for all.
    var maximumItems: Int? { get }

    /// The executor that the task prefers while it measures this contender; `nil` for none.
    var executor: (any TaskExecutor)? { get }

    /// Sets up in an empty folder for the items of `workload`, which will come in any order.
    func prepare(in directory: URL, for workload: Workload) async throws

    /// Stores an item that is not there yet. It need not survive a power cut.
    func store(_ index: Int, _ content: [UInt8]) async throws

    /// Reads a stored item whole, decoded and in memory, and returns its length.
    func read(_ index: Int) async throws -> Int

    /// Makes a stored item a durable file under its final name, and no longer a stored item.
    func promote(_ index: Int) async throws

    /// Removes `items`, which are all that are stored. Where that is quicker, in one piece.
    func evict(_ items: Range<Int>) async throws

    /// Does a job for `items` and says how long it took. A contender that runs elsewhere measures there,
    /// so that its time is not that of a pipe.
    func run(_ job: Job, for items: Range<Int>, of workload: Workload) async throws -> Duration

    /// Where `promote` left an item, for a check of its content that is not measured.
    func promotedFile(_ index: Int) -> URL

    /// Lets go of what `prepare` opened. The folder itself is removed by the caller.
    func cleanup() async throws
}

extension Contender {
    public var maximumItems: Int? { nil }

    public var executor: (any TaskExecutor)? { nil }

    public func run(_ job: Job, for items: Range<Int>, of workload: Workload) async throws -> Duration {
        try await ContinuousClock().measure {
            switch job {
            case .store:
                for index in items { try await store(index, workload.contents[index]) }
            case .read:
                for index in items {
                    let length = try await read(index)
                    guard length == workload.size else { throw WrongContent(contender: name, item: index) }
                }
            case .promote:
                for index in items { try await promote(index) }
            case .evict:
                try await evict(items)
            }
        }
    }
}

/// A contender did not give back what it was given: its figures would mean nothing.
public struct WrongContent: Error, CustomStringConvertible {
    let contender: String
    let item: Int

    public init(contender: String, item: Int) {
        self.contender = contender
        self.item = item
    }

    public var description: String { "\(contender) gave back something else for item \(item)" }
}
