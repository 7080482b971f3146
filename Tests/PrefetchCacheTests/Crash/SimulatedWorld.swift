import FileSystemTestSupport
import Logging
import PrefetchFileSystem
import Synchronization
import SystemPackage
import Testing

@testable import PrefetchCaching

/// A container on a simulated disk, and processes that use it one after the other.
final class SimulatedWorld: Sendable {
    static let areas: StorageAreas = {
        do {
            return try .container(at: "/nothing/is/here" as FilePath).excluding(into: excludedFolder)
        } catch {
            preconditionFailure("\(error)")
        }
    }()
    static let staging = areas.applicationSupport.appending("PrefetchCache/staging")
    static let foreignStaging = areas.documents.appending(CacheLayout.foreignStaging.string)
    static let excludedFolder: FileName = "org.example.app"
    /// The folder of the items that have one.
    static let folder: FolderPath = "Podcasts/Daily"
    static let items = areas.caches.appending("PrefetchCache/items")
    static let iCloudDrive = areas.path(of: .iCloudDrive) ?? "there is one in every container"
    static let supportFiles = areas.applicationSupport.appending("PrefetchCache/files")

    let fileSystem: SimulatedFileSystem
    /// No two processes are the same, in whatever world.
    private static let processes = Atomic<UInt64>(0)
    private let breakage: Breakage

    convenience init(_ disk: SimulatedDisk = SimulatedDisk(), _ breakage: Breakage = .none) {
        self.init(SimulatedFileSystem(disk, sabotage: breakage.sabotage), breakage)
    }

    /// What a crash leaves.
    convenience init(_ crash: Crash, _ breakage: Breakage) {
        switch crash {
        case .power(let disk): self.init(disk, breakage)
        case .kill(let moment):
            self.init(SimulatedFileSystem(after: moment, sabotage: breakage.sabotage), breakage)
        }
    }

    private init(_ fileSystem: SimulatedFileSystem, _ breakage: Breakage) {
        self.fileSystem = fileSystem
        self.breakage = breakage
    }

    /// The engine of a process of its own.
    ///
    /// - Parameter longestCopy: 0 to rename every identity item that can be renamed.
    func engine(longestCopy: Int64 = 0) throws -> Engine {
        let number = Self.processes.wrappingAdd(1, ordering: .relaxed).newValue
        let session = "0000\(String(number + 0x1000_0000_0000, radix: 16))"
        let ledger = SimulatedLedger(
            fileSystem: fileSystem, unflushed: breakage.unflushed, omitted: breakage.omitted)
        // Whoever waits here waits for what runs in the same thread: the time is soon over.
        let looks = Atomic<Int>(0)
        return try Engine(
            areas: Self.areas,
            environment: CacheEnvironment(
                fileSystem: fileSystem, now: { 1_700_000_000_000 },
                uptime: { .seconds(looks.wrappingAdd(60, ordering: .relaxed).newValue) },
                probe: FixedVolumeProbe.roomy, session: String(session.suffix(16)), bootIdentifier: "boot",
                parallelism: 1, longestCopy: longestCopy,
                logger: Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() })),
            ledger: ledger)
    }

    /// Puts an item into the cache as a store does, without the books.
    func cache(_ item: SimulatedItem) throws { try fileSystem.undisturbed { try placeInCache(item) } }

    private func placeInCache(_ item: SimulatedItem) throws {
        let items = try Directory.openOrCreate(
            Self.items, permissions: CacheLayout.folderPermissions, in: fileSystem)
        let folder = try items.openOrCreate(
            CacheLayout.folder(of: item.key.hash), permissions: CacheLayout.folderPermissions)
        let partial: FilePath = "partial"
        // Of a store that a crash has interrupted.
        if try fileSystem.attributes(of: partial, in: folder.descriptor) != nil {
            try fileSystem.unlink(partial, in: folder.descriptor)
        }
        try fileSystem.withFile(partial, in: folder.descriptor, .createNew(CacheLayout.filePermissions)) {
            file throws(FileSystemError) in
            do {
                let writer = try ItemWriter(
                    file, of: fileSystem, codecs: CodecPool(parallelism: 1), metadata: item.metadata,
                    encoding: .forced(item.encoding))
                _ = try item.content.withBytes { try writer.finish(appending: $0) }
            } catch {
                preconditionFailure("\(error)")
            }
        }
        try fileSystem.rename(
            partial, in: folder.descriptor, to: FilePath(item.key.hash.hexadecimal), in: folder.descriptor,
            .replacing)
    }

    /// Writes a file as its user would.
    func write(_ content: [UInt8], to path: FilePath) throws {
        try fileSystem.undisturbed { try place(content, at: path) }
    }

    private func place(_ content: [UInt8], at path: FilePath) throws {
        let folder = try Directory.openOrCreate(
            path.removingLastComponent(), permissions: CacheLayout.folderPermissions(in: .documents),
            in: fileSystem)
        let name = FilePath(root: nil, [try #require(path.lastComponent)])
        if try fileSystem.attributes(of: name, in: folder.descriptor) != nil {
            try fileSystem.unlink(name, in: folder.descriptor)
        }
        try fileSystem.withFile(name, in: folder.descriptor, .createNew(CacheLayout.filePermissions)) {
            file throws(FileSystemError) in try fileSystem.writeAll(content, to: file, at: 0)
        }
    }

    /// Opens a key as an app does, and notes what it was told.
    @discardableResult
    func open(_ key: ItemKey, _ engine: Engine) throws -> Lookup<PromotedFile> {
        let lookup = try engine.open(key)
        if case .hit(let opened) = lookup { note(opened) }
        return lookup
    }

    /// Takes note of the file that a caller was given, and of which version it is.
    func note(_ opened: PromotedFile) {
        fileSystem.note("\(opened.key)\t\(opened.path)\t\(opened.contentChecksum)")
    }
}

/// An item of a workload.
struct SimulatedItem: Sendable {
    let key: ItemKey
    let content: [UInt8]
    let encoding: ItemEncoding
    let checksum: UInt64
    var metadata: ItemMetadata

    var destination: Destination {
        guard let destination = metadata.destination else { preconditionFailure("it was made with one") }
        return destination
    }

    /// - Parameter length: Bytes of content; more than a page.
    init(
        _ key: ItemKey, _ encoding: ItemEncoding, length: Int = 9000, seed: UInt64 = 1,
        area: Area = .documents, backup: BackupPolicy = .include
    ) {
        self.key = key
        self.encoding = encoding
        content = Array(encoding == .lz4 ? prose(length, seed: seed) : noise(length, seed: seed))
        var checksum = ContentChecksum()
        content.withUnsafeBytes { checksum.update($0) }
        self.checksum = checksum.finalize()
        let name = FileName(sanitizing: key.string)
        metadata = ItemMetadata(
            key: key,
            destination: .in(area, name, backup: backup))
    }
}
