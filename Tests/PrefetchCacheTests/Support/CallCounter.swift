import FileSystemTestSupport
import Synchronization
import SystemPackage

/// Counts calls that a test intercepts.
final class CallCounter: Sendable {
    private let count = Atomic<Int>(0)

    /// The number of calls so far.
    var value: Int { count.load(ordering: .relaxed) }

    /// The number of earlier calls.
    func next() -> Int { count.wrappingAdd(1, ordering: .relaxed).oldValue }
}

extension FileSystemTestSupport.Operation {
    /// Whether the kernel could answer with such an error.
    func canFail(with errno: Errno) -> Bool {
        switch errno {
        case .noSpace: [.write, .rename, .resize, .clone, .allocate].contains(kind) || isCreating
        case .permissionDenied: [.open, .unlink, .rename, .clone].contains(kind)
        default: isChange || [.lock, .read, .attributes].contains(kind)
        }
    }
}
