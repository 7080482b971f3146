import FileSystemTestSupport
import PrefetchFileSystem
import Synchronization
import SystemPackage
import Testing

@testable import PrefetchCaching

/// A coordinator that knows who may do what, and a file system and a ledger that ask it: whatever happens
/// in iCloud Drive without it fails the test, and so do a lock and a call of the ledger under it.
///
/// For tests of one thread.
final class CoordinationWatch: FileCoordinating {
    private struct Current {
        var access: CoordinatedAccess?
        var path: FilePath = ""
    }

    private let root: FilePath
    private let current = Mutex(Current())
    private let seen = Mutex<[CoordinatedAccess: Set<FilePath>]>([:])
    private let refusal = Mutex<Errno?>(nil)
    /// Operations below the root that were watched.
    private let watched = Mutex(0)

    init(root: FilePath) { self.root = root }

    var operations: Int { watched.withLock { $0 } }

    func paths(_ access: CoordinatedAccess) -> Set<FilePath> { seen.withLock { $0[access] ?? [] } }

    /// Gives access to nobody from now on, or again to everybody.
    func refuse(_ errno: Errno?) { refusal.withLock { $0 = errno } }

    func coordinate(
        _ access: CoordinatedAccess, at path: FilePath, _ body: () -> Void
    ) throws(FileSystemError) {
        if let errno = refusal.withLock({ $0 }) {
            throw FileSystemError("coordinate", path: path, errno: errno)
        }
        let outer = current.withLock { $0.access }
        #expect(outer == nil, "\(access) of \(path) inside another access")
        #expect(path.starts(with: root), "\(path) needs no coordination")
        seen.withLock { _ = $0[access, default: []].insert(path) }
        current.withLock { $0 = Current(access: access, path: path) }
        body()
        current.withLock { $0 = Current() }
    }

    /// A file system that is watched.
    func fileSystem() -> InterceptingFileSystem {
        InterceptingFileSystem { [self] operation in watch(operation) }
    }

    private func watch(_ operation: FileSystemTestSupport.Operation) {
        let current = current.withLock { $0 }
        if operation.kind == .lock { #expect(current.access == nil, "\(operation) under coordination") }
        for name in [operation.path, operation.newPath].compactMap(\.self) where name.hasPrefix(root.string) {
            let path = FilePath(name)
            guard path.starts(with: root) else { continue }
            watched.withLock { $0 += 1 }
            guard let access = current.access else {
                Issue.record("\(operation) at \(path) without coordination")
                continue
            }
            #expect(
                path.starts(with: current.path) || current.path.starts(with: path),
                "\(operation) at \(path) under the coordination of \(current.path)")
            guard operation.isChange, operation.kind != .open else { continue }
            #expect([.write, .publish, .delete].contains(access), "\(operation) at \(path) under \(access)")
        }
    }

    /// The ledger, which nobody may call under coordination.
    func watching(_ ledger: any PromotionLedger) -> any PromotionLedger {
        InterceptedLedger(ledger) { [self] call, _ in
            let access = current.withLock { $0.access }
            #expect(access == nil, "\(call) of the ledger under coordination")
        }
    }
}

extension TemporaryContainer {
    /// An engine that is watched.
    func engine(_ watch: CoordinationWatch) throws -> Engine {
        let areas = try areas()
        let support = try SupportFolders(areas: areas, fileSystem: LiveFileSystem())
        let path = areas.applicationSupport.pushing(CacheLayout.root)
        return try engine(
            fileSystem: watch.fileSystem(), coordinator: watch,
            ledger: watch.watching(Ledger(record: Record(in: support.root, at: path))))
    }
}
