import FileSystemTestSupport
import ItemFormatTestSupport
import PrefetchFileSystem
import SystemPackage

@testable import PrefetchCaching

/// A folder of files on a simulated disk that is taken into the cache.
struct SimulatedMigration: Sendable {
    static let folder: FilePath = "/elsewhere/old"

    let role: MigrationRequest.Role
    /// By their paths below the folder.
    let originals: [String: [UInt8]]
    /// What the originals become where they become items: stored without the books, and not flushed.
    var items: [SimulatedItem] = []
    /// Those of them that were there before.
    var known: [SimulatedItem] = []

    /// Takes them in, as far as that goes.
    ///
    /// - Returns: What stays, each with the reason.
    @discardableResult
    func run(_ world: SimulatedWorld) throws -> [String] {
        for item in known where try !Self.isWhole(item, on: world.fileSystem.disk) { try world.cache(item) }
        let request = MigrationRequest(of: Self.folder, as: role)
        var left: [String] = []
        let migrator = try Migrator(engine: world.engine(), request: request, isDryRun: false) {
            _, _, metadata in
            // As the cache does, at once: a store is not what is disturbed here.
            guard var item = items.first(where: { $0.key == metadata.key }) else {
                throw Migrator.Left(.keyIsTaken)
            }
            item.metadata = metadata
            try world.cache(item)
        }
        try migrator.run { file in
            if case .left(let obstacle) = file.outcome { left.append("\(file.path): \(obstacle)") }
        }
        return left
    }

    /// Whether an item is in the cache and can be read to its end.
    static func isWhole(_ item: SimulatedItem, on disk: SimulatedDisk) throws -> Bool {
        let path = SimulatedWorld.items.pushing(CacheLayout.file(of: item.key.hash))
        guard disk.content(of: path) != nil else { return false }
        let fileSystem = SimulatedFileSystem(disk)
        let file = try fileSystem.open(path, in: .workingDirectory, .read)
        var content: [UInt8] = []
        do throws(ItemFormatError) {
            let reader = try ItemReader(file, of: fileSystem, codecs: CodecPool(parallelism: 1))
            try reader.stream(0..<reader.footer.contentBytes) { content += $0 }
        } catch {
            return false
        }
        return content == item.content
    }
}

extension CrashWorkload {
    private static let originals = [
        "text.txt": text.content, "Podcasts/film.mp4": film.content, "taken.txt": Array("ours".utf8),
    ]

    static var migrations: [CrashWorkload] {
        [
            migrating("documents", SimulatedMigration(role: .promoted(to: .documents), originals: originals)),
            migrating(
                "support", SimulatedMigration(role: .promoted(to: .applicationSupport), originals: originals)),
            migratingToAnotherVolume, migratingWhatIsThere, migratingItems,
        ]
    }

    private static func migrating(_ name: String, _ migration: SimulatedMigration) -> CrashWorkload {
        var workload = CrashWorkload(name: "migration, \(name)") { world in try migration.run(world) }
        workload.migration = migration
        workload.prepare = { world in
            for (path, content) in migration.originals {
                try world.write(content, to: SimulatedMigration.folder.appending(path))
            }
        }
        workload.foreign = [documents.appending("taken.txt").string: strange]
        return workload
    }

    /// Files are written anew there, and the old ones removed.
    private static var migratingToAnotherVolume: CrashWorkload {
        let migration = SimulatedMigration(role: .promoted(to: .documents), originals: originals)
        var workload = migrating("another volume", migration)
        workload.otherVolume = documents
        return workload
    }

    /// Its user has just written a file of that name and content, and nobody has flushed it.
    private static var migratingWhatIsThere: CrashWorkload {
        let migration = SimulatedMigration(
            role: .promoted(to: .documents), originals: ["text.txt": text.content])
        let base = migrating("what is there", migration)
        var workload = CrashWorkload(name: base.name) { world in
            try world.write(text.content, to: documents.appending("text.txt"))
            try migration.run(world)
        }
        (workload.migration, workload.prepare) = (migration, base.prepare)
        workload.unflushed = documents.appending("text.txt").string
        return workload
    }

    private static var migratingItems: CrashWorkload {
        let items = [text, film]
        var migration = SimulatedMigration(
            role: .cached(to: .documents),
            originals: Dictionary(uniqueKeysWithValues: items.map { ($0.key.string, $0.content) }))
        migration.items = items
        migration.known = [text]
        var workload = migrating("items", migration)
        workload.foreign = [:]
        return workload
    }
}
