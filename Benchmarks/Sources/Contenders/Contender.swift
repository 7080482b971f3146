public import Foundation

/// One way to store, read and promote the items of a workload, side by side with others.
///
/// `store`, `read` and `promote` are what is measured: each is called once per item and does the
/// whole of its job before it returns. A contender is used by one task.
public protocol Contender: AnyObject {
    /// A short name for tables.
    var name: String { get }

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

    /// Where `promote` left an item, for a check of its content that is not measured.
    func promotedFile(_ index: Int) -> URL

    /// Lets go of what `prepare` opened. The folder itself is removed by the caller.
    func cleanup() async throws
}

extension Contender {
    public var executor: (any TaskExecutor)? { nil }
}
