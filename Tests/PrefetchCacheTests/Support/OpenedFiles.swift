import Synchronization
import SystemPackage

@testable import PrefetchCaching

/// What many threads were given.
final class OpenedFiles: Sendable {
    private let seen = Mutex<[PromotedFile?]>([])

    func add(_ item: PromotedFile?) { seen.withLock { $0.append(item) } }

    var firstOpens: Int { seen.withLock { $0.count { $0?.isFirstOpen == true } } }
    var paths: Set<FilePath?> { seen.withLock { Set($0.map { $0?.path }) } }
}
