public import Foundation

/// What is measured, in the order in which one round does it.
public enum Job: String, CaseIterable, Sendable {
    case store, read, promote
    /// Of the items that were not promoted.
    case evict
}

/// One way to store, read, promote and evict the items of a workload, side by side with others; set up in an empty folder, for
/// items that come in any order. Used by one task.
public protocol Contender: AnyObject {
    /// The executor that the task prefers while it measures this contender; `nil` for none.
    var executor: (any TaskExecutor)? { get }

    /// Does a job for `items` and says how long it took. A contender that runs elsewhere measures there,
    /// so that its time is not that of a pipe.
    func run(_ job: Job, for items: Range<Int>, of workload: Workload) async throws -> Duration

    /// Where a promotion left an item, for a check of its content that is not measured.
    func promotedFile(_ index: Int) -> URL

    /// Lets go of what is open. The folder itself is removed by the caller.
    func leave() async throws
}

extension Contender {
    public var executor: (any TaskExecutor)? { nil }
    public func promotedFile(_ index: Int) -> URL { URL(filePath: "/dev/null") }
    public func leave() async throws {}
}

/// A contender that is called item by item, and does the whole of each job before it returns. These calls are what is measured.
public protocol ItemContender: Contender {
    /// Stores an item that is not there yet. It need not survive a power cut.
    func store(_ index: Int) async throws

    /// Reads a stored item whole, decoded and in memory, and returns its length.
    func read(_ index: Int) async throws -> Int

    /// Makes a stored item a durable file under its final name, and no longer a stored item.
    func promote(_ index: Int) async throws

    /// Removes `items`, which are all that are stored. Where that is quicker, in one piece.
    func evict(_ items: Range<Int>) async throws
}

extension ItemContender {
    public func run(_ job: Job, for items: Range<Int>, of workload: Workload) async throws -> Duration {
        try await ContinuousClock().measure { try await doInTurn(job, for: items, of: workload) }
    }

    func doInTurn(_ job: Job, for items: Range<Int>, of workload: Workload) async throws {
        switch job {
        case .store: for index in items { try await store(index) }
        case .read:
            for index in items where try await read(index) != workload.size {
                throw ContenderError.wrongContent(index)
            }
        case .promote: for index in items { try await promote(index) }
        case .evict: try await evict(items)
        }
    }
}

/// Who takes part in a comparison.
public struct Entry {
    /// A short name for tables.
    public let name: String
    /// How it is set up, in one line.
    public let setup: String
    /// How many items it is measured with, where it is so slow that more would say nothing new; `nil` for all.
    public var maximumItems: Int?
    /// Sets up in an empty folder.
    public let enter: (URL, Workload) async throws -> any Contender

    public init(
        _ name: String, _ setup: String, maximumItems: Int? = nil,
        enter: @escaping (URL, Workload) async throws -> any Contender
    ) {
        self.name = name
        self.setup = setup
        self.maximumItems = maximumItems
        self.enter = enter
    }

    /// Other caches, and which of these are not on this machine.
    ///
    /// Libraries are looked for when the package is evaluated, and SwiftPM remembers what came of that: `.ci/setup --peers` has
    /// it look again.
    public static func peers() -> (all: [Entry], missing: [String]) {
        var (all, missing): ([Entry], [String]) = ([.urlCache, .of(SQLiteItems.self)], [])
        #if HAS_LMDB
            all.append(.of(LMDBItems.self))
        #else
            missing.append("lmdb: not installed, skipped (apt-get install liblmdb-dev, or .ci/setup --peers)")
        #endif
        if let diskCache = diskCache() {
            all.append(diskCache)
        } else {
            missing.append(
                "diskcache: not installed, skipped (pip install diskcache in Benchmarks/.venv, or .ci/setup --peers)"
            )
        }
        return (all, missing)
    }
}

/// What must not happen in a benchmark: its figures would mean nothing.
public struct ContenderError: Error, CustomStringConvertible {
    public let description: String

    public init(_ description: String) { self.description = description }

    static let missing = ContenderError("an item that was stored is missing")

    /// It did not give back what it was given.
    public static func wrongContent(_ index: Int) -> ContenderError {
        ContenderError("gave back something else for item \(index)")
    }
}

/// Does `last` after `body`, whatever came of it; of two errors, the first is the one to tell.
func finally<Result>(
    _ last: () async throws -> Void, after body: () async throws -> Result
) async throws -> Result {
    let result: Result
    do {
        result = try await body()
    } catch {
        do {
            try await last()
        } catch let second {
            FileHandle.standardError.write(Data("and then: \(second)\n".utf8))
        }
        throw error
    }
    try await last()
    return result
}
