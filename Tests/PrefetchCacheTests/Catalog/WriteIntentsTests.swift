import FileSystemTestSupport
import Foundation
import PrefetchFileSystem
import SystemPackage
import Testing

@testable import PrefetchCaching

/// After the death of a writer, only what it had not recorded is looked at.
@Suite struct WriteIntentsTests {
    private let container = TemporaryContainer.make(budget: .mebibytes(8))

    init() throws {
        let engine = try container.engine()
        for number in 0..<20 { try engine.store(noise(3000), ItemKey(number: number)) }
        try engine.close()
    }

    /// Stores, replaces, removes, opens and quarantines something, and dies before any of it is recorded.
    private func die() throws -> String {
        let fileSystem = InterceptingFileSystem()
        let engine = try container.engine(fileSystem: fileSystem)
        for number in 20..<25 { try engine.store(noise(3000), ItemKey(number: number)) }
        try engine.store(noise(5000), ItemKey(number: 1))
        _ = try engine.remove(ItemKey(number: 2))
        _ = try engine.open(ItemKey(number: 3))
        try Data(repeating: 7, count: 3000).write(to: container.item(ItemKey(number: 4)))
        #expect(try engine.content(ItemKey(number: 4)) == nil)
        fileSystem.die()
        return engine.environment.session
    }

    private func lockFile(of session: String) -> URL {
        container.caches.appending(path: "incoming/\(session).lock")
    }

    /// Whether the catalog then lists what is there, and how many folders of items were listed for that.
    private func foldersLookedThrough() throws -> Int {
        let log = OperationLog()
        let engine = try container.engine(fileSystem: log.fileSystem())
        let numbers = [0, 1] + Array(5..<25)
        let items = try engine.items()
        #expect(try Set(items.map(\.key)) == Set(numbers.map { try ItemKey(number: $0) }))
        #expect(try items.first { try $0.key == ItemKey(number: 1) }?.contentBytes == 5000)
        let statistics = try engine.statistics()
        #expect(try statistics.chargedBytes == container.chargedOnDisk())
        #expect(statistics.quarantinedItems == 1)
        // What is nobody's any more is gone.
        let locks = try container.files(below: container.incoming)
        #expect(locks.allSatisfy { $0 == "\(engine.environment.session).lock" })
        try engine.close()
        return log.operations.count { $0.kind == .entries && $0.name.count == 2 }
    }

    @Test func onlyWhatIsListedIsLookedAt() throws {
        _ = try die()
        #expect(try foldersLookedThrough() == 0)
    }

    /// What is the first act of a process that never stored anything, and dies before the catalog has recorded it.
    private static let firstActs = [
        "open", "open together", "remove", "read expired", "read damaged", "read purged", "open changed",
        "deliver", "evict and roll back", "discard partials",
    ]

    /// Whoever changes anything is found when it dies, by whoever opens the cache next and by who has it open.
    @Test(arguments: firstActs, [false, true])
    func whoOnlyTakesAwayIsFound(_ act: String, _ isWitnessed: Bool) throws {
        let keys = try (0..<5).map { try ItemKey(number: $0) }
        let writer = try container.engine()
        for key in keys where act == "discard partials" { try writer.keep(noise(1 << 20), key) }
        try writer.close()
        let witness = try container.engine(now: { 1_500_000_000_000 })
        if act == "read expired" {
            try witness.store(noise(3000), as: ItemMetadata("expiring", expiresAt: 1_600_000_000_000))
        }
        _ = try witness.statistics()

        let fileSystem = InterceptingFileSystem()
        let engine = try container.engine(fileSystem: fileSystem)
        switch act {
        case "open": for key in keys { #expect(try engine.open(key).value != nil) }
        case "open together": #expect(engine.open(keys).count == 5)
        case "remove": for key in keys { #expect(try engine.remove(key)) }
        case "read expired": #expect(try engine.content("expiring") == nil)
        case "read damaged", "read purged":
            for key in keys {
                let data = act == "read purged" ? Data() : Data(repeating: 7, count: 3000)
                try data.write(to: container.item(key))
                #expect(try engine.content(key) == nil)
            }
        case "open changed":
            for key in keys { #expect(try engine.open(key).value != nil) }
            for key in keys { #expect(try engine.forget(key)) }
        case "deliver":
            for key in keys {
                let store = try engine.beginDelivery(key, expectedLength: nil)
                _ = try store.commit()
            }
        case "evict and roll back":
            struct Failure: Error {}
            #expect(throws: CacheError.self) {
                try engine.catalog.transaction { transaction in
                    _ = try engine.evictor.evict(atLeast: 10_000, because: .request, from: transaction)
                    throw Failure()
                }
            }
        default: for key in keys { try engine.discardPartials(key) }
        }
        fileSystem.die()
        let next = isWitnessed ? witness : try container.engine()
        if isWitnessed { try next.maintain() }
        let statistics = try next.statistics()
        #expect(try statistics.chargedBytes == container.chargedOnDisk())
        let items = try container.files(below: container.items)
        #expect(try next.items().count == items.count)
        #expect(statistics.items == items.count)
        #expect(statistics.partials == 0)
        #expect(!lockFile(of: engine.environment.session).exists)
    }

    /// One that only opens the cache does not need the list, but others do.
    @Test func theListStaysUntilTheCatalogIsOpened() throws {
        let session = try die()
        try container.engine().close()
        #expect(lockFile(of: session).exists)
        #expect(try foldersLookedThrough() == 0)
    }

    @Test(arguments: ["gone", "emptied", "older", "cut", "torn", "foreign", "huge", "continued"])
    func withoutAListEverythingIsLookedAt(_ state: String) throws {
        let session = try die()
        let file = lockFile(of: session)
        let whole = try Data(contentsOf: file)
        switch state {
        case "gone": try file.remove()
        case "emptied": try Data().write(to: file)
        // Of a version that wrote none.
        case "older": try whole.prefix(16).write(to: file)
        case "cut": try whole.prefix(24).write(to: file)
        case "torn": try whole.dropLast(3).write(to: file)
        case "foreign": try noise(whole.count).write(to: file)
        case "huge": #expect(truncate(file.path, 1 << 40) == 0)
        // After the system had emptied it.
        default: try (Data(count: 32) + whole.dropFirst(32)).write(to: file)
        }
        #expect(try foldersLookedThrough() > 0)
    }

    @Test func aFullVolumeHasNoRoomForALongerList() throws {
        let fileSystem = InterceptingFileSystem()
        let engine = try container.engine(fileSystem: fileSystem)
        fileSystem.fail(.noSpace) { $0.kind == .write && $0.name.hasSuffix(".lock") && $0.offset >= 32 }
        for number in 20..<25 { #expect(try engine.store(noise(3000), ItemKey(number: number)).isStored) }
        for number in [2, 3, 4] { #expect(try engine.remove(ItemKey(number: number))) }
        fileSystem.die()
        let log = OperationLog()
        let next = try container.engine(fileSystem: log.fileSystem())
        #expect(try next.items().count == 22)
        #expect(try next.statistics().chargedBytes == container.chargedOnDisk())
        #expect(log.operations.contains { $0.kind == .entries && $0.name.count == 2 })
    }

    /// Nor can the list be cut: then nothing is stored that nobody would find.
    @Test func whatCannotBeListedIsNotStored() throws {
        let fileSystem = InterceptingFileSystem()
        let engine = try container.engine(fileSystem: fileSystem)
        try engine.store(noise(3000), "before")
        fileSystem.fail { [.write, .resize].contains($0.kind) && $0.name.hasSuffix(".lock") }
        #expect(throws: CacheError.self) { try engine.store(noise(3000), "after") }
        #expect(!container.item("after").exists)
        // Space must be freed in any case.
        #expect(try engine.remove(ItemKey(number: 0)))
        fileSystem.intercept { _ in }
        #expect(try engine.store(noise(3000), "after").isStored)
        fileSystem.die()
        let next = try container.engine()
        #expect(try next.items().map(\.key).suffix(2) == ["before", "after"])
    }

    /// What was read in a transaction that is rolled back is read once more.
    @Test func theListIsThereForAnotherTry() throws {
        _ = try die()
        // Another process has closed the cache just before, and flushed the catalog.
        try container.catalog.execute(sql: "DELETE FROM unflushed")
        #expect(try foldersLookedThrough() == 0)
    }

    /// As if its cache had been closed while the volume was full.
    @Test func aListThatIsNotRecordedOutlivesItsProcess() throws {
        let engine = try container.engine()
        try engine.store(noise(3000), "new")
        engine.session.end(removingFile: true)
        let log = OperationLog()
        let next = try container.engine(fileSystem: log.fileSystem())
        #expect(try next.items().last?.key == "new")
        #expect(!log.operations.contains { $0.kind == .entries && $0.name.count == 2 })
        try next.close()
        #expect(!lockFile(of: engine.environment.session).exists)
    }

    /// The lock file was emptied at the very moment at which an item was listed: its length is right.
    @Test func anEmptiedFileIsNoticedWhoseListWentOn() throws {
        let fileSystem = InterceptingFileSystem()
        let engine = try container.engine(fileSystem: fileSystem)
        let file = lockFile(of: engine.environment.session)
        for number in 20..<23 { try engine.store(noise(3000), ItemKey(number: number)) }
        try (Data(count: 32) + Data(contentsOf: file).dropFirst(32)).write(to: file, options: [])
        try engine.flush()
        try engine.store(noise(3000), "next")
        let bound = engine.catalog.inMemory { $0.allowance.bound }
        let incoming = engine.folders.current.incoming
        #expect(bound > 0)
        #expect(try WriterSession.bounds(in: incoming)[engine.environment.session] == bound)
        fileSystem.die()
        let log = OperationLog()
        #expect(try container.engine(fileSystem: log.fileSystem()).items().last?.key == "next")
        #expect(!log.operations.contains { $0.kind == .entries && $0.name.count == 2 })
    }

    /// The rows of what an eviction has removed do not stay because its transaction failed.
    @Test func anEvictionThatIsRolledBackIsNotForgotten() throws {
        let engine = try container.engine()
        struct Failure: Error {}
        // A use that is still to be recorded says nothing about what is there now.
        for number in 0..<20 { #expect(try engine.content(ItemKey(number: number)) != nil) }
        #expect(throws: CacheError.self) {
            try engine.catalog.transaction { transaction in
                _ = try engine.evictor.evict(atLeast: 10_000, because: .request, from: transaction)
                throw Failure()
            }
        }
        try engine.flush()
        #expect(try engine.items().count < 20)
        #expect(try engine.statistics().chargedBytes == container.chargedOnDisk())
    }

    /// The list does not grow with all that a process stores, but with what it has not recorded.
    @Test func placesAreUsedAgain() throws {
        let container = try TemporaryContainer(budget: .gibibytes(8))
        let engine = try container.engine()
        let file = container.incoming.appending(path: "\(engine.environment.session).lock")
        func length() throws -> Int64 { try #require(try file.attributes).length }
        func store(_ numbers: Range<Int>) throws {
            for number in numbers { try engine.store(noise(100), ItemKey(number: number)) }
        }
        // Until the grants are large: each writes what is pending.
        try store(0..<200)
        try engine.flush()
        let longest = try length()
        #expect(longest <= 32 + 200 * 16)
        for round in 10..<20 {
            try store(round * 30..<round * 30 + 30)
            try engine.flush()
        }
        #expect(try length() == longest)
        try store(1000..<1300)
        #expect(try length() == 32 + 300 * 16)
        try engine.flush()
        #expect(try length() == 32)
        try engine.close()
        #expect(!file.exists)
    }

    /// What an eviction has removed and not recorded is found, wherever it is interrupted: the folders are copied before
    /// one of its calls.
    @Test(arguments: ["budget", "request", "first act of its process"], [1, 5, 20])
    func anEvictionMayBeInterruptedAnywhere(_ cause: String, _ call: Int) throws {
        let (container, copy) = (try TemporaryContainer(budget: .kibibytes(512)), try TemporaryContainer())
        let fileSystem = InterceptingFileSystem()
        // One thread: what is copied stands still.
        var engine = try container.engine(fileSystem: fileSystem, parallelism: 1)
        for number in 0..<100 { try engine.store(noise(3000), ItemKey(number: number)) }
        try engine.maintain()
        if cause == "first act of its process" {
            try engine.close()
            engine = try container.engine(fileSystem: fileSystem, parallelism: 1)
        }
        let unlinks = CallCounter()
        fileSystem.intercept { operation throws(FileSystemError) in
            guard operation.kind == .unlink, operation.path?.contains("/items/") ?? false,
                unlinks.next() == call
            else { return }
            do {
                try SystemCommand.run(
                    "/bin/cp", "-a", container.root.appending(path: "Library").path, copy.root.path)
            } catch {
                Issue.record(error)
            }
        }
        if cause == "budget" {
            #expect(try engine.store(noise(300_000), "large").isStored)
        } else {
            _ = try engine.evict(EvictionRequest(storedBefore: nil), isDryRun: false)
        }
        let log = OperationLog()
        let next = try copy.engine(fileSystem: log.fileSystem())
        #expect(try next.items().count > 0)
        for item in try next.items() { #expect(copy.item(item.key).exists) }
        #expect(try next.statistics().chargedBytes == copy.chargedOnDisk())
        #expect(!log.operations.contains { $0.kind == .entries && $0.name.count == 2 })
    }
}
