public import Foundation

/// What is measured of a large item, in the order in which one round does it.
public enum LargeJob: String, CaseIterable, Sendable {
    case store, read, promote
}

/// One way to store, read and promote one item that is too large to hold in memory.
public protocol LargeContender: AnyObject {
    /// A short name for tables.
    var name: String { get }

    /// How it was set up, in one line.
    var setup: String { get }

    /// The executor that the task prefers while it measures this contender; `nil` for none.
    var executor: (any TaskExecutor)? { get }

    /// Sets up in an empty folder for the item whose content is `file`.
    func prepare(in directory: URL, for file: LargeFile) async throws

    /// Stores the content of the file. It need not survive a power cut.
    func store() async throws

    /// Reads the item from its beginning to its end.
    func read() async throws

    /// Makes the item a durable file under its final name, and no longer a stored item.
    func promote() async throws

    /// Where `promote` left the item.
    var promotedFile: URL { get throws }

    /// Lets go of what `prepare` opened. The folder itself is removed by the caller.
    func cleanup() async throws
}

extension LargeContender {
    public var executor: (any TaskExecutor)? { nil }

    /// Does a job and says how long it took.
    public func run(_ job: LargeJob) async throws -> Duration {
        try await ContinuousClock().measure {
            switch job {
            case .store: try await store()
            case .read: try await read()
            case .promote: try await promote()
            }
        }
    }
}

/// The contenders for large items, and which commands are not on this machine.
public func largeContenders() -> (all: [any LargeContender], missing: [MissingPeer]) {
    var all: [any LargeContender] = [
        FloorLargeContender(), PrefetchCacheLargeContender(),
        PrefetchCacheLargeContender(hasOneThread: true),
    ]
    var missing: [MissingPeer] = []
    if let lz4 = CommandContender() {
        all.append(lz4)
    } else {
        missing.append(MissingPeer(name: "lz4", advice: "apt-get install lz4"))
    }
    return (all, missing)
}
