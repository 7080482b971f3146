import FileSystemTestSupport
import PrefetchFileSystem
import Synchronization
import SystemPackage
import Testing

@testable import PrefetchCaching

/// Something that promotes, and what must hold whenever it is interrupted.
struct CrashWorkload: Sendable, CustomTestStringConvertible {
    let name: String
    /// Durable in the cache at the beginning: whatever happens, opening them gives them whole.
    var kept: [SimulatedItem] = []
    /// Cached in between and never flushed: whole, or not there.
    var volatile: [SimulatedItem] = []
    /// Files of the user's, by their paths.
    var foreign: [String: [UInt8]] = [:]
    /// A file that its user has written and not flushed: it may be anything until it is reported.
    var unflushed: String?
    /// A folder that is on another volume.
    var otherVolume: FilePath?
    var prepare: @Sendable (SimulatedWorld) throws -> Void = { _ in }
    let run: @Sendable (SimulatedWorld) throws -> Void

    /// The files that it takes in, where it does not promote items.
    var migration: SimulatedMigration?

    var testDescription: String { name }

    /// Whether somebody else is at work at the same time.
    var isBeside = false

    /// The disk before the first operation, all of it durable.
    func start() throws -> SimulatedDisk {
        let world = SimulatedWorld()
        if let otherVolume { world.fileSystem.mount(otherVolume, device: 2) }
        for item in kept { try world.cache(item) }
        for (path, content) in foreign { try world.write(content, to: FilePath(path)) }
        try prepare(world)
        return world.fileSystem.disk
    }

    /// Looks at what a crash left, has the next process go on, and looks again.
    func judge(_ world: SimulatedWorld, _ notes: ArraySlice<String>) throws(Violation) {
        if let migration {
            return try MigrationJudge(migration: migration, foreign: foreign, unflushed: unflushed).judge(
                world)
        }
        try CrashJudge(workload: self, notes: notes).judge(world)
    }

    /// Runs it to its end.
    func history(from disk: SimulatedDisk, _ breakage: Breakage = .none) throws -> SimulatedHistory {
        let world = SimulatedWorld(disk, breakage)
        try run(world)
        return world.fileSystem.history
    }
}

extension CrashWorkload {
    static let documents = SimulatedWorld.areas.documents

    /// Opens one item that is cached.
    private static func opening(_ name: String, _ item: SimulatedItem) -> CrashWorkload {
        CrashWorkload(name: name, kept: [item]) { world in try world.open(item.key, world.engine()) }
    }

    private static func opening(
        _ name: String, _ item: SimulatedItem, besides content: [UInt8]
    ) -> CrashWorkload {
        var workload = opening(name, item)
        workload.foreign = [documents.appending(item.key.string).string: content]
        return workload
    }

    private static func crossing(_ name: String, _ item: SimulatedItem) -> CrashWorkload {
        var workload = opening(name, item)
        workload.otherVolume = documents
        return workload
    }

    /// Opens one item whose destination is in a folder, which may be on another volume.
    private static func descending(
        _ name: String, _ item: SimulatedItem, otherVolume: FilePath? = nil, besides content: [UInt8]? = nil
    ) -> CrashWorkload {
        var item = item
        let destination = item.destination
        item.metadata.destination = .documents(destination.name, in: SimulatedWorld.folder, backup: .include)
        var workload = opening(name, item)
        workload.otherVolume = otherVolume
        if let content {
            workload.foreign = [
                documents.pushing(SimulatedWorld.folder.path).pushing(destination.name.path).string: content
            ]
        }
        return workload
    }

    /// Opens one item whose destination is in iCloud Drive.
    private static func uploading(
        _ name: String, _ item: SimulatedItem, in folder: FolderPath? = nil, besides content: [UInt8]? = nil
    ) -> CrashWorkload {
        var item = item
        let file = item.destination.name
        item.metadata.destination = .iCloudDrive(file, in: folder)
        var workload = opening(name, item)
        if let content {
            workload.foreign = [SimulatedWorld.iCloudDrive.appending(file.string).string: content]
        }
        return workload
    }

    /// Opens one item that backups exclude, beside files of the user's in the folder that it goes to.
    private static func excluding(_ name: String, besides files: [String: [UInt8]]) -> CrashWorkload {
        var workload = opening(name, SimulatedItem("text.txt", .lz4, backup: .exclude))
        let folder = documents.appending(SimulatedWorld.excludedFolder.string)
        for (name, content) in files { workload.foreign[folder.appending(name).string] = content }
        return workload
    }

    static let text = SimulatedItem("text.txt", .lz4)
    static let film = SimulatedItem("film.mp4", .identity)
    static let strange = Array("somebody else's".utf8)

    static let all: [CrashWorkload] =
        [
            opening("first open, LZ4", text),
            opening("first open, identity", film),
            opening("foreign file, LZ4", text, besides: strange),
            opening("foreign file, identity", film, besides: strange),
            opening("identical file, LZ4", text, besides: text.content),
            opening("identical file, identity", film, besides: film.content),
            crossing("another volume, LZ4", text),
            crossing("another volume, identity", film),
            descending("a folder, LZ4", text),
            descending("a folder, identity", film),
            descending("a folder with a foreign file, LZ4", text, besides: strange),
            descending("a folder on another volume, LZ4", text, otherVolume: documents),
            descending("a volume in a folder, LZ4", text, otherVolume: documents.appending("Podcasts")),
            descending("a volume in a folder, identity", film, otherVolume: documents.appending("Podcasts")),
            opening(
                "Application Support, no backup, LZ4",
                SimulatedItem("data.json", .lz4, area: .applicationSupport, backup: .exclude)),
            opening(
                "Application Support, no backup, identity",
                SimulatedItem("data.zip", .identity, area: .applicationSupport, backup: .exclude)),
            excluding("Documents, no backup", besides: [:]),
            excluding("Documents, no backup, a folder of the user's", besides: ["mine.txt": strange]),
            excluding("Documents, no backup, foreign file", besides: ["text.txt": strange]),
            uploading("iCloud Drive, LZ4", text), uploading("iCloud Drive, identity", film),
            uploading("iCloud Drive, foreign file, LZ4", text, besides: strange),
            uploading("iCloud Drive, identical file, LZ4", text, besides: text.content),
            uploading("iCloud Drive, identical file, identity", film, besides: film.content),
            uploading("iCloud Drive, a folder, LZ4", text, in: SimulatedWorld.folder),
            besideUnflushed(text), besideUnflushed(film), severalKeys, sharedName, forgottenAndStoredAgain,
            takenAwayAndStoredAgain, changedByItsUser,
            delivered, purging("purged", SimulatedItem("film.mp4", .identity, backup: .exclude)),
            deleting("deleted", film),
        ]
        + together + bundles + replacements
        + (1...3).map(recovered)
        + migrations
        + [text, film].flatMap { item in
            stride(from: 2, to: 60, by: 6).flatMap { moment in
                [besideEviction(item, at: moment), besideAnother(item, at: moment)]
            }
        }
        + stride(from: 9, to: 120, by: 18).flatMap { moment in
            [togetherBesideEviction(at: moment), togetherBesideOthers(at: moment)]
        }

    private static var severalKeys: CrashWorkload {
        let items = [text, film, SimulatedItem("more.txt", .lz4, length: 5000, seed: 3)]
        return CrashWorkload(name: "several keys", kept: items) { world in
            let engine = try world.engine()
            for item in items { try world.open(item.key, engine) }
        }
    }

    /// Its user has just written a file of that name and content, and nobody has flushed it.
    private static func besideUnflushed(_ item: SimulatedItem) -> CrashWorkload {
        let path = documents.appending(item.key.string)
        var workload = CrashWorkload(
            name: "identical file that was not flushed, \(item.encoding)", kept: [item]
        ) { world in
            try world.write(item.content, to: path)
            try world.open(item.key, world.engine())
        }
        workload.unflushed = path.string
        return workload
    }

    /// Two keys that want one name.
    private static var sharedName: CrashWorkload {
        let first = SimulatedItem("one", .lz4, seed: 5)
        var second = SimulatedItem("two", .identity, seed: 6)
        second.metadata.destination = first.metadata.destination
        let items = [first, second]
        return CrashWorkload(name: "one name for two keys", kept: items) { world in
            let engine = try world.engine()
            for item in items { try world.open(item.key, engine) }
        }
    }

    private static var forgottenAndStoredAgain: CrashWorkload {
        let again = SimulatedItem("text.txt", .lz4, seed: 9)
        var workload = CrashWorkload(name: "stored again after it was forgotten") { world in
            let engine = try world.engine()
            _ = try engine.forget(again.key)
            try world.cache(again)
            try world.open(again.key, engine)
        }
        workload.volatile = [again]
        workload.foreign = [documents.appending("text.txt").string: text.content]
        workload.prepare = { world in
            try world.cache(text)
            try world.fileSystem.removeFile(documents.appending("text.txt"))
            _ = try world.engine().open(text.key)
        }
        return workload
    }

    private static var takenAwayAndStoredAgain: CrashWorkload {
        let again = SimulatedItem("film.mp4", .identity, seed: 9)
        var workload = CrashWorkload(name: "stored again after its file was taken away") { world in
            let engine = try world.engine()
            let lost = try engine.ledger.entry(for: again.key)
            var failure: (any Error)?
            _ = try engine.promoter.replacePromotion(
                of: again.key, lost.map(ReplacedPromotion.lost) ?? .any
            ) {
                do { try world.cache(again) } catch { failure = error }
            }
            if let failure { throw failure }
            try world.open(again.key, engine)
        }
        workload.volatile = [again]
        workload.prepare = { world in
            try world.cache(film)
            _ = try world.engine().open(film.key)
            try world.fileSystem.removeFile(documents.appending("film.mp4"))
        }
        return workload
    }

    /// An opened file or bundle of ours that is no longer used.
    static func purging(_ name: String, _ item: SimulatedItem) -> CrashWorkload {
        removing(name, item) { engine in _ = try engine.purgeExcluded(unusedSince: .max, isDryRun: false) }
    }

    /// Its user wants the file or the bundle gone.
    static func deleting(_ name: String, _ item: SimulatedItem) -> CrashWorkload {
        removing(name, item) { engine in _ = try engine.deletePromotedFile(item.key) }
    }

    private static func removing(
        _ name: String, _ item: SimulatedItem, by remove: @escaping @Sendable (Engine) throws -> Void
    ) -> CrashWorkload {
        var workload = CrashWorkload(name: name) { world in try remove(world.engine()) }
        workload.volatile = [item]
        workload.prepare = { world in
            try world.cache(item)
            _ = try world.engine().open(item.key)
        }
        return workload
    }

    /// The file is its user's as soon as it is there, and stays as the user made it.
    private static var changedByItsUser: CrashWorkload {
        let path = documents.appending("text.txt")
        var workload = CrashWorkload(name: "changed by its user") { world in
            try world.open(text.key, world.engine())
        }
        workload.foreign = [path.string: strange]
        workload.prepare = { world in
            try world.fileSystem.removeFile(path)
            try world.cache(text)
            _ = try world.engine().open(text.key)
            try world.write(strange, to: path)
            // A store that raced with the promotion.
            try world.cache(text)
        }
        return workload
    }

    private static var delivered: CrashWorkload {
        let item = SimulatedItem("asked for", .identity, seed: 11)
        var workload = CrashWorkload(name: "delivered") { world in try world.deliver(item) }
        workload.volatile = [item]
        return workload
    }

    /// Another process evicts the item in the middle of its promotion, as far as it gets.
    private static func besideEviction(_ item: SimulatedItem, at moment: Int) -> CrashWorkload {
        var workload = opening("\(item.key) beside an eviction at \(moment)", item, at: moment) { world in
            let engine = try world.engine()
            let files = CacheFiles(folders: engine.folders, session: engine.session, parallelism: 1)
            let victim = Victim(
                hash: item.key.hash, key: item.key.string, kind: .item, chargedBytes: 0, priority: 0)
            _ = try files.removal(of: victim).get()
        }
        // Evicted before it was opened.
        swap(&workload.kept, &workload.volatile)
        workload.prepare = { world in try world.cache(item) }
        return workload
    }

    /// Another process opens the item in the middle of its promotion; where it would wait, it gives up.
    private static func besideAnother(_ item: SimulatedItem, at moment: Int) -> CrashWorkload {
        opening("\(item.key) beside another open at \(moment)", item, at: moment) { world in
            do {
                try world.open(item.key, world.engine())
            } catch CacheError.busy {
                return
            }
        }
    }

    /// Opens an item; before one of the operations of that, somebody else does something.
    private static func opening(
        _ name: String, _ item: SimulatedItem, at moment: Int,
        while other: @escaping @Sendable (SimulatedWorld) throws -> Void
    ) -> CrashWorkload {
        opening(name, [item], at: moment, while: other) { world, engine in
            try world.open(item.key, engine)
        }
    }

    static func opening(
        _ name: String, _ items: [SimulatedItem], at moment: Int,
        while other: @escaping @Sendable (SimulatedWorld) throws -> Void,
        _ open: @escaping @Sendable (SimulatedWorld, Engine) throws -> Void
    ) -> CrashWorkload {
        var workload = CrashWorkload(name: name, kept: items) { world in
            let engine = try world.engine()
            let count = CallCounter()
            let failure = Mutex<(any Error)?>(nil)
            world.fileSystem.intercept { _ in
                guard count.next() == moment else { return }
                do {
                    try other(world)
                } catch {
                    failure.withLock { $0 = error }
                }
            }
            try open(world, engine)
            world.fileSystem.intercept { _ in }
            if let failure = failure.withLock({ $0 }) { throw failure }
        }
        workload.isBeside = true
        return workload
    }

    /// A process that died after a number of ledger commits and changes of names; its successor's
    /// recovery is what is interrupted here.
    private static func recovered(after changes: Int) -> CrashWorkload {
        var workload = opening("recovery \(changes)", film)
        workload.prepare = { world in try world.dieOpening(film.key, after: changes) }
        return workload
    }
}

extension SimulatedWorld {
    /// A process that dies opening an item, after a number of ledger commits and changes of names.
    func dieOpening(_ key: ItemKey, after changes: Int) throws {
        let engine = try engine()
        try die(after: changes) { _ = try engine.open(key) }
    }

    /// - Parameter isAtOnce: Whether not even a flush comes after the last change.
    func die(after changes: Int, isAtOnce: Bool = false, _ work: () throws -> Void) throws {
        let count = CallCounter()
        fileSystem.intercept { operation throws(FileSystemError) in
            let isChange = operation.kind == .commit || operation.isPublishing
            guard isChange ? count.next() >= changes : isAtOnce && count.value >= changes else { return }
            throw FileSystemError("died", errno: .ioError)
        }
        do { try work() } catch {
            guard "\(error)".contains("died") else { throw error }
        }
        fileSystem.intercept { _ in }
    }
}

extension SimulatedFileSystem {
    /// Removes a file that may not be there.
    func removeFile(_ path: FilePath) throws {
        if try attributes(of: path, in: .workingDirectory) != nil { try unlink(path, in: .workingDirectory) }
    }
}
