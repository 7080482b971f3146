import FileSystemTestSupport
import Synchronization
import Testing

/// Adds up the files on disk before every change, and keeps the largest sum.
final class ChargeWatch: Sendable {
    let fileSystem = InterceptingFileSystem()
    private let largest = Mutex<Int64>(0)

    var mostBytes: Int64 { largest.withLock { $0 } }

    init(_ container: TemporaryContainer) {
        fileSystem.intercept { [self] operation in
            guard [.write, .rename, .unlink, .resize].contains(operation.kind) else { return }
            do {
                let charged = try container.chargedOnDisk()
                largest.withLock { $0 = max($0, charged) }
            } catch { Issue.record(error) }
        }
    }
}
