internal import Synchronization

/// Keeps the operations that it sees, in order.
public final class OperationLog: Sendable {
    private let seen = Mutex<[Operation]>([])

    public init() {}

    public var operations: [Operation] { seen.withLock { $0 } }

    public func add(_ operation: Operation) {
        seen.withLock { $0.append(operation) }
    }

    public func clear() {
        seen.withLock { $0 = [] }
    }

    /// A file system whose operations are added to this log.
    public func fileSystem() -> InterceptingFileSystem {
        InterceptingFileSystem { [self] operation in add(operation) }
    }
}
