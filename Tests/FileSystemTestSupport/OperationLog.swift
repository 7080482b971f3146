internal import Synchronization

/// Keeps the operations that it sees, in order.
package final class OperationLog: Sendable {
    private let seen = Mutex<[Operation]>([])

    package init() {}

    package var operations: [Operation] { seen.withLock { $0 } }

    package func add(_ operation: Operation) {
        seen.withLock { $0.append(operation) }
    }

    package func clear() {
        seen.withLock { $0 = [] }
    }

    /// A file system whose operations are added to this log.
    package func fileSystem() -> InterceptingFileSystem {
        InterceptingFileSystem { [self] operation in add(operation) }
    }
}
