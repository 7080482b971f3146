import FileSystemTestSupport
import PrefetchFileSystem
import Synchronization
import SystemPackage
import Testing

@testable import PrefetchCaching

/// Counts calls that a test intercepts.
final class CallCounter: Sendable {
    private let count = Atomic<Int>(0)

    /// The number of calls so far.
    var value: Int { count.load(ordering: .relaxed) }

    /// The number of earlier calls.
    @discardableResult
    func next() -> Int { count.wrappingAdd(1, ordering: .relaxed).oldValue }
}

/// A file system with somebody in between.
protocol Interceptable {
    func intercept(_ interceptor: @escaping Interceptor)
}

extension InterceptingFileSystem: Interceptable {
    /// One on which calls fail.
    convenience init(
        failing errno: Errno, where isMeant: @escaping OperationTest
    ) {
        self.init()
        fail(errno, where: isMeant)
    }

    /// Has the process die before such a call.
    func die(before isMeant: @escaping OperationTest) {
        intercept { [unowned self] operation in
            if isMeant(operation) { die() }
        }
    }
}

typealias OperationTest = @Sendable (FileSystemTestSupport.Operation) -> Bool

extension SimulatedFileSystem: Interceptable {}

extension Interceptable {
    /// Has calls fail.
    func fail(
        _ errno: Errno = .ioError, where isMeant: @escaping OperationTest
    ) {
        intercept { operation throws(FileSystemError) in
            if isMeant(operation) { throw FileSystemError(operation.kind.rawValue, errno: errno) }
        }
    }

    /// Does something before one call of a kind: before the first, or so many later.
    ///
    /// - Returns: Counts the calls of that kind.
    @discardableResult
    func once(
        before isMeant: @escaping OperationTest, after earlier: Int = 0,
        _ body: @escaping @Sendable () throws -> Void
    ) -> CallCounter {
        let calls = CallCounter()
        intercept { operation in
            guard isMeant(operation), calls.next() == earlier else { return }
            do { try body() } catch { Issue.record(error) }
        }
        return calls
    }
}

extension FileSystemTestSupport.Operation {
    /// Whether it gives a file its name.
    var isPublishing: Bool { kind == .rename && newName != CacheLayout.nonexistent.string }

    /// Whether the kernel could answer with such an error.
    func canFail(with errno: Errno) -> Bool {
        switch errno {
        case .noSpace: [.write, .rename, .resize, .clone, .allocate].contains(kind) || isCreating
        case .permissionDenied: [.open, .unlink, .rename, .clone].contains(kind)
        default: isChange || [.lock, .read, .attributes].contains(kind)
        }
    }
}
