import FileSystemTestSupport
import PrefetchFileSystem
import SystemPackage
import Testing

@testable import PrefetchCaching

/// Work whose process dies, or is failed by the system, at one call after another; each time in a new container, and
/// with a judgement of what is left.
struct InterruptedWork: Sendable {
    let container: @Sendable () throws -> TemporaryContainer
    let work: @Sendable (Engine) throws -> Void
    /// Receives the moment as a comment.
    let judge: @Sendable (TemporaryContainer, String) throws -> Void

    /// Kills the process at every call that changes something, and at every lock.
    ///
    /// - Returns: How many calls the work has, up to the step.
    func killed(every step: Int) throws -> Int {
        try calls(every: step) { number throws in
            try run(number, { $0.die() }, where: { $0.isChange || $0.kind == .lock })
        }
    }

    /// Fails every call that the kernel could fail with an error, once.
    func failed(with errno: Errno, every step: Int) throws -> Int {
        try calls(every: step) { number throws in
            try run(
                number, { _ throws(FileSystemError) in throw FileSystemError("test", errno: errno) },
                where: { $0.canFail(with: errno) })
        }
    }

    func attempt(_ engine: Engine) {
        do {
            try work(engine)
        } catch is CacheError {
            return
        } catch {
            Issue.record(error)
        }
    }

    /// - Returns: Whether the work had come to its end before that moment.
    private func run(
        _ number: Int, _ fault: @escaping @Sendable (InterceptingFileSystem) throws(FileSystemError) -> Void,
        where isMeant: @escaping @Sendable (FileSystemTestSupport.Operation) -> Bool
    ) throws -> Bool {
        let container = try container()
        let fileSystem = InterceptingFileSystem()
        let engine = try container.engine(fileSystem: fileSystem)
        let count = CallCounter()
        let log = OperationLog()
        fileSystem.intercept { [weak fileSystem] operation throws(FileSystemError) in
            guard let fileSystem, isMeant(operation) else { return }
            if count.next() == number {
                log.add(operation)
                try fault(fileSystem)
            }
        }
        attempt(engine)
        fileSystem.intercept { _ in }
        guard let operation = log.operations.first else { return true }
        fileSystem.die()
        try judge(container, "at call \(number), \(operation)")
        return false
    }

    /// - Parameter isOver: Whether the work had come to its end before the call of that number.
    private func calls(every step: Int, until isOver: (Int) throws -> Bool) rethrows -> Int {
        for number in TestRun.numbers(every: step) where try isOver(number) { return number }
        return 0
    }
}
