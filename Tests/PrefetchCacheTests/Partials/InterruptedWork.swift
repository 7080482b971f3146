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
        try calls(every: step, { $0.die() }, where: { $0.isChange || $0.kind == .lock })
    }

    /// Fails every call that the kernel could fail with an error, once.
    func failed(with errno: Errno, every step: Int) throws -> Int {
        try calls(
            every: step, { _ throws(FileSystemError) in throw FileSystemError("test", errno: errno) },
            where: { $0.canFail(with: errno) })
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

    private func calls(
        every step: Int,
        _ fault: @escaping @Sendable (InterceptingFileSystem) throws(FileSystemError) -> Void,
        where isMeant: @escaping OperationTest
    ) throws -> Int {
        for number in TestRun.numbers(every: step) {
            let container = try container()
            let fileSystem = InterceptingFileSystem()
            let engine = try container.engine(fileSystem: fileSystem)
            let (count, log) = (CallCounter(), OperationLog())
            fileSystem.intercept { [weak fileSystem] operation throws(FileSystemError) in
                guard let fileSystem, isMeant(operation), count.next() == number else { return }
                log.add(operation)
                try fault(fileSystem)
            }
            attempt(engine)
            fileSystem.intercept { _ in }
            // The work has come to its end before the call of that number.
            guard let operation = log.operations.first else { return number }
            fileSystem.die()
            try judge(container, "at call \(number), \(operation)")
        }
        return 0
    }
}
