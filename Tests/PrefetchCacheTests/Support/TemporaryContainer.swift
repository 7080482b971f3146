import Foundation
import Logging
import PrefetchFileSystem
import Synchronization
import SystemPackage

@testable import PrefetchCaching

/// An app container in a folder of its own, removed when the test lets go of it, and at the end of the process: a file
/// system whose interceptor refers to it keeps it for ever, and an engine that was not closed may make it anew.
final class TemporaryContainer: Sendable {
    private static let all = Mutex<Set<URL>>([])
    private static let isRegistered: Bool = {
        atexit { for root in TemporaryContainer.all.withLock({ $0 }) { TemporaryContainer.remove(root) } }
            == 0
    }()

    let root: URL
    private let clock = SteppingClock()

    init(in folder: URL = FileManager.default.temporaryDirectory) throws {
        root = folder.appending(
            path: "PrefetchCacheTests-\(UUID().uuidString)", directoryHint: .isDirectory)
        try FileManager.default.createDirectory(at: root, withIntermediateDirectories: true)
        guard Self.isRegistered else { throw CocoaError(.fileWriteUnknown) }
        _ = Self.all.withLock { $0.insert(root) }
    }

    /// One for a suite to begin with: where there is no temporary folder, there is nothing to test.
    static func make(
        in folder: URL = FileManager.default.temporaryDirectory, budget: ByteCount? = nil,
        largestItem: ByteCount? = nil
    ) -> TemporaryContainer {
        do {
            guard let budget else { return try TemporaryContainer(in: folder) }
            return try TemporaryContainer(in: folder, budget: budget, largestItem: largestItem)
        } catch { preconditionFailure("\(error)") }
    }

    /// One whose cache is configured before it is used.
    ///
    /// - Parameter largestItem: `nil` for the whole budget.
    convenience init(
        in folder: URL = FileManager.default.temporaryDirectory, budget: ByteCount,
        largestItem: ByteCount? = nil
    ) throws {
        try self.init(in: folder)
        let engine = try engine()
        try engine.configure(.fixed(budget)) { $0.largestItem = largestItem ?? budget }
        try engine.close()
    }

    deinit { Self.remove(root) }

    private static func remove(_ root: URL) {
        // It may have been on a volume that is no longer mounted.
        guard FileManager.default.fileExists(atPath: root.path) else { return }
        do {
            try FileManager.default.removeItem(at: root)
        } catch {
            print("cannot remove \(root.path): \(error)")
        }
    }

    var caches: URL { root.appending(path: "Library/Caches/PrefetchCache") }
    var support: URL { root.appending(path: "Library/Application Support/PrefetchCache") }
    var documents: URL { root.appending(path: "Documents") }
    var iCloudDrive: URL { root.appending(path: "Library/Mobile Documents") }
    var catalog: URL { caches.appending(path: "catalog.sqlite") }
    var items: URL { caches.appending(path: "items") }
    var incoming: URL { caches.appending(path: "incoming") }
    var quarantine: URL { caches.appending(path: "quarantine") }
    var record: URL { support.appending(path: "record.sqlite") }
    var staging: URL { support.appending(path: "staging") }

    func document(_ path: String) -> URL { documents.appending(path: path) }

    func areas() throws -> StorageAreas { try .container(at: root) }

    /// The engine as another process would open it: every call is a session of its own.
    ///
    /// - Parameters:
    ///   - probe: `nil` for the volume that the tests run on, which may be short of space.
    ///   - coordinator: `nil` for the one of the platform.
    ///   - areas: `nil` for those of the container.
    ///   - ledger: `nil` for the one in the container.
    ///   - now: `nil` for a clock that goes on by a second whenever it is read.
    ///   - uptime: `nil` for the same clock, which this does not set forward.
    ///   - isRecovering: Whether what a crash left behind is settled.
    ///   - longestCopy: 0 to rename every identity item that can be renamed: those of tests are short.
    func engine(
        fileSystem: any FileSystem = LiveFileSystem(), boot: String = "boot-1",
        probe: (any VolumeProbing)? = FixedVolumeProbe.roomy,
        coordinator: (any FileCoordinating)? = nil, areas: StorageAreas? = nil,
        ledger: (any PromotionLedger)? = nil, now: (@Sendable () -> Int64)? = nil,
        uptime: (@Sendable () -> Duration)? = nil, isRecovering: Bool = true, parallelism: Int = 2,
        longestCopy: Int64 = 0
    ) throws -> Engine {
        let clock = clock
        let session = String(UInt64.random(in: 1 << 60 ... .max), radix: 16)
        return try Engine(
            areas: areas ?? self.areas(),
            environment: CacheEnvironment(
                fileSystem: fileSystem, now: now ?? { clock.next() }, uptime: uptime ?? { clock.uptime },
                probe: probe, coordinator: coordinator,
                session: session, bootIdentifier: boot, parallelism: parallelism, longestCopy: longestCopy,
                logger: Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() })),
            ledger: ledger, isRecovering: isRecovering)
    }

    func cache() async throws -> PrefetchCache { try await PrefetchCache(areas: areas()) }

    func item(_ key: ItemKey) -> URL {
        caches.appending(path: "items/\(CacheLayout.file(of: key.hash).string)")
    }

    /// All regular files below a folder, as paths relative to it.
    func files(below folder: URL) throws -> [String] {
        guard FileManager.default.fileExists(atPath: folder.path) else { return [] }
        return try FileManager.default.subpathsOfDirectory(atPath: folder.path).filter { path in
            var isFolder: ObjCBool = false
            let exists = FileManager.default.fileExists(
                atPath: folder.appending(path: path).path, isDirectory: &isFolder)
            return exists && !isFolder.boolValue
        }.sorted()
    }

    /// What is staged: no lock files.
    func staged() throws -> [String] { try files(below: staging).filter { !$0.hasSuffix(".lock") } }

    /// Files of partials, ordinary or kept.
    func partials() throws -> [String] { try files(below: incoming).filter { !$0.hasSuffix(".lock") } }

    /// What the files of items and partials on disk are charged, walked and added up.
    func chargedOnDisk() throws -> Int64 {
        let charge = ChargedLength(blockSize: 4096)
        var sum: Int64 = 0
        for folder in ["items", "incoming", "quarantine"] {
            let folder = caches.appending(path: folder)
            for file in try files(below: folder) where !file.hasSuffix(".lock") {
                let path = FilePath(folder.appending(path: file).path)
                // Gone since it was listed: it is no longer charged.
                guard let attributes = try LiveFileSystem().attributes(of: path, in: .workingDirectory) else {
                    continue
                }
                if attributes.length > 0 { sum += charge(storedBytes: attributes.length) }
            }
        }
        return sum
    }
}

extension FixedVolumeProbe {
    /// A volume with space in plenty, whatever that of the machine has.
    static let roomy = FixedVolumeProbe(VolumeState(total: 1 << 40, available: 1 << 39))
}

/// A clock that goes on by a second whenever it is read.
private final class SteppingClock: Sendable {
    private let milliseconds = Atomic<Int64>(1_700_000_000_000)

    var uptime: Duration { .milliseconds(milliseconds.load(ordering: .relaxed)) }

    func next() -> Int64 { milliseconds.wrappingAdd(1000, ordering: .relaxed).newValue }
}
