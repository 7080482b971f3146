import FileSystemTestSupport
import Foundation
import GRDB
import PrefetchFileSystem
import SystemPackage
import Testing

@testable import PrefetchCaching

@Suite struct RepairTests {
    private let container = TemporaryContainer.make()

    private func engine(isRecovering: Bool = false) throws -> Engine {
        try container.engine(
            now: { Int64(Date().timeIntervalSince1970 * 1000) + 60_000 }, isRecovering: isRecovering)
    }

    /// What a dry run tells, which changes nothing, and what then is done, after which nothing is left to do.
    private func repair(sourceLocation: SourceLocation = #_sourceLocation) throws -> [RepairReport.Action] {
        let before = try snapshot()
        let first = try engine()
        let told = try first.repair(isDryRun: true)
        #expect(told.failures.isEmpty, sourceLocation: sourceLocation)
        try first.close()
        #expect(try snapshot() == before, "a dry run changes nothing", sourceLocation: sourceLocation)

        let second = try engine()
        let done = try second.repair(isDryRun: false)
        #expect(done.failures.isEmpty, sourceLocation: sourceLocation)
        #expect(done.steps.map(\.action) == told.steps.map(\.action), sourceLocation: sourceLocation)
        try second.close()

        let third = try engine()
        let left = try third.repair(isDryRun: false)
        #expect(left.steps.isEmpty && left.failures.isEmpty, sourceLocation: sourceLocation)
        #expect(left.skipped == told.skipped, sourceLocation: sourceLocation)
        try third.close()
        return done.steps.map(\.action)
    }

    /// The names, lengths and times of all files of ours.
    private func snapshot() throws -> [String: [Int64]] {
        var found: [String: [Int64]] = [:]
        for path in try container.files(below: container.root)
        where !path.hasSuffix(".lock") && !path.contains("sqlite-") {
            let file = FilePath(container.root.appending(path: path).path)
            guard let attributes = try LiveFileSystem().attributes(of: file, in: .workingDirectory) else {
                continue
            }
            found[path] = [attributes.length, attributes.modified, Int64(attributes.identity.inode)]
        }
        return found
    }

    private func fill(_ keys: ItemKey...) throws {
        let engine = try engine(isRecovering: true)
        for key in keys { try engine.store(prose(3000, seed: key.hash.low), key) }
        try engine.close()
    }

    @Test func whatIsInOrderStays() throws {
        try fill("a", "b")
        #expect(try repair() == [])
    }

    @Test func anEmptyContainerNeedsNothing() throws {
        try fill()
        #expect(try repair() == [])
    }

    @Test func theCatalogFitsTheItems() throws {
        try fill("a", "b", "c", "d")
        try container.item("a").remove()
        try Data().write(to: container.item("b"))
        try container.catalog.execute(sql: "DELETE FROM item WHERE key = 'c'")
        try container.catalog.execute(
            sql: "UPDATE item SET storedLength = 7, chargedLength = 519 WHERE key = 'd'")
        #expect(Set(try repair()) == [.rowRemoved, .purgedItemRemoved, .rowAdded, .rowCorrected])
        let engine = try engine()
        #expect(Set(try engine.items().map(\.key)) == ["c", "d"])
        #expect(try engine.statistics().chargedBytes == container.chargedOnDisk())
    }

    @Test(arguments: ["missing", "damaged", "older"])
    func theCatalogIsMadeAnew(_ how: String) throws {
        try fill("a", "b")
        switch how {
        case "missing": try container.catalog.remove()
        case "damaged":
            try container.catalog.overwrite(Data(repeating: 0xA5, count: 8192), at: 4096)
        default: try container.catalog.execute(sql: "PRAGMA user_version = 3")
        }
        #expect(try repair() == [.catalogRebuilt])
        #expect(try engine().items().count == 2)
    }

    /// Leaves the catalog as a process does that dies in the middle of a transaction.
    private func dieInATransaction(_ sql: String) throws {
        let engine = try engine(isRecovering: true)
        for key in ["a", "b", "c"] as [ItemKey] { try engine.store(prose(3000, seed: key.hash.low), key) }
        _ = try engine.content("a")
        try engine.flush()
        let journal = container.catalog.path + "-journal"
        let queue = try DatabaseQueue(path: container.catalog.path)
        var files: [String: Data] = [:]
        try queue.writeWithoutTransaction { database in
            try database.execute(sql: "PRAGMA journal_mode = PERSIST; PRAGMA synchronous = OFF")
            try database.execute(sql: "PRAGMA cache_size = 1; BEGIN IMMEDIATE; \(sql)")
            for path in [container.catalog.path, journal] {
                files[path] = try Data(contentsOf: URL(filePath: path))
            }
            try database.execute(sql: "ROLLBACK")
        }
        try queue.close()
        try engine.close()
        for (path, content) in files { try content.write(to: URL(filePath: path)) }
    }

    @Test(arguments: [true, false])
    func aTransactionThatAProcessDidNotEndIsUndoneAndCostsNothing(_ isDryRun: Bool) throws {
        try dieInATransaction("UPDATE item SET lastUse = 0, source = hex(randomblob(1500))")
        let engine = try engine()
        let report = try engine.repair(isDryRun: isDryRun)
        #expect(report == RepairReport())
        try engine.close()
        // What everybody else finds.
        let next = try self.engine()
        #expect(try next.items().map(\.key) == ["b", "c", "a"])
        #expect(try next.statistics().hits == 1)
        #expect(try next.statistics().stores == 3)
        try next.close()
    }

    /// The length is that of the row, and the file is damaged all the same: another byte each time, in the key, the
    /// checksum and the trailer among others.
    @Test(arguments: [1, 9, 20, 40, 70, 100])
    func aFooterOfTheRightLengthIsLookedAt(_ offset: Int) throws {
        try fill("a", "b")
        let item = container.item("a")
        var content = try Data(contentsOf: item)
        content[content.endIndex - offset] ^= 1
        try content.write(to: item)
        #expect(try repair() == [.itemQuarantined, .quarantinedItemRemoved])
        #expect(try engine().items().map(\.key) == ["b"])
    }

    @Test func anItemUnderTheNameOfAnotherIsSetAside() throws {
        let engine = try engine(isRecovering: true)
        // Of one length, so that the row fits.
        for key in ["a", "b"] as [ItemKey] { try engine.store(noise(3000), key) }
        try engine.close()
        try Data(contentsOf: container.item("b")).write(to: container.item("a"))
        #expect(try repair() == [.itemQuarantined, .quarantinedItemRemoved])
        #expect(try self.engine().items().map(\.key) == ["b"])
    }

    @Test(arguments: [true, false])
    func oneUnreadableFolderDoesNotKeepTheOthersFromRepair(_ isDryRun: Bool) throws {
        try fill("a", "b")
        // The walk comes to the unreadable one first.
        let keys = (["a", "b"] as [ItemKey]).sorted { $0.hash < $1.hash }
        try Data().write(to: container.item(keys[1]))
        let folder = CacheLayout.folder(of: keys[0].hash)
        let engine = try container.engine(
            fileSystem: InterceptingFileSystem(failing: .permissionDenied) {
                $0.kind == .open && $0.path?.hasSuffix("/items/\(folder)") == true
            }, isRecovering: false)
        let report = try engine.repair(isDryRun: isDryRun)
        #expect(report.steps.map(\.action) == [.purgedItemRemoved])
        #expect(report.failures.map(\.location) == [.ours(CacheLayout.items.pushing(folder), in: .caches)])
    }

    @Test func theSumsFitTheRows() throws {
        try fill("a", "b")
        try container.catalog.execute(sql: "UPDATE total SET items = 77, chargedLength = 5 WHERE kind = 0")
        #expect(try repair() == [.statisticsCorrected])
        #expect(try engine().statistics().items == 2)
    }

    @Test func whatWasSetAsideGoes() throws {
        try fill("a", "b", "c")
        for key in ["a", "b"] as [ItemKey] {
            let length = try Data(contentsOf: container.item(key)).count
            let handle = try FileHandle(forUpdating: container.item(key))
            try handle.truncate(atOffset: UInt64(length - 5))
            try handle.close()
        }
        let engine = try engine(isRecovering: true)
        #expect(try engine.content("a") == nil)
        try engine.close()
        // One is in the quarantine, the other still in its place.
        #expect(
            try repair().sorted { $0.rawValue < $1.rawValue } == [
                .itemQuarantined, .quarantinedItemRemoved, .quarantinedItemRemoved,
            ])
        #expect(try container.files(below: container.quarantine).isEmpty)
        #expect(try self.engine().statistics().quarantinedItems == 0)
    }

    @Test func whatWritersHaveLeftGoes() throws {
        try fill("a")
        let incoming = container.incoming
        let hash = ItemKey("half").hash.hexadecimal
        for name in ["0123456789abcdef-1", "0123456789abcdef.lock", hash, "\(hash).chunks"] {
            try Data("left".utf8).write(to: incoming.appending(path: name))
        }
        let foreign = incoming.appending(path: "notes")
        try Data("mine".utf8).write(to: foreign)
        #expect(try repair() == [.partialRemoved, .partialRemoved, .partialRemoved])
        #expect(try container.files(below: incoming) == ["notes"])
    }

    @Test func whatALivingWriterWritesStays() throws {
        let writer = try container.engine()
        let store = try writer.begin("k", expectedLength: 3 << 20)
        try store.append(mebibytes: 2)
        let engine = try engine()
        #expect(try engine.repair(isDryRun: false) == RepairReport())
        try store.append(mebibytes: 1)
        #expect(try store.commit().isStored)
    }

    @Test func whatCanBeResumedStays() throws {
        let writer = try container.engine(now: { Int64(Date().timeIntervalSince1970 * 1000) })
        let store = try writer.begin(
            ItemMetadata("k"), encoding: .forced(.identity), expectedLength: 8 << 20, keepingPartial: true)
        try store.append(mebibytes: 3)
        #expect(try store.suspend() != nil)
        try writer.close()
        #expect(try repair() == [])
        #expect(try engine().partial(of: "k") != nil)
    }

    @Test func whatIsStagedAndUnknownGoes() throws {
        try fill("a")
        let staging = container.staging
        let name = CacheLayout.staged(ItemKey("k").hash, session: "0123456789abcdef", number: 3).string
        try Data("half".utf8).write(to: staging.appending(path: name))
        try Data("mine".utf8).write(to: staging.appending(path: "letter.txt"))
        #expect(try repair() == [.stagedFileRemoved])
        #expect(staging.appending(path: "letter.txt").exists)
    }

    @Test func anInterruptedPromotionIsSettled() throws {
        let engine = try engine(isRecovering: true)
        try engine.store(prose(3000), "Doc.txt")
        let opened = try #require(try engine.open("Doc.txt").value)
        var entry = try #require(try engine.ledger.entry(for: "Doc.txt"))
        entry.state = .intent
        try engine.ledger.put(entry)
        try engine.close()
        #expect(try repair() == [.promotionResolved])
        let next = try self.engine()
        #expect(try next.ledger.entry(for: "Doc.txt")?.state == .committed)
        #expect(FileManager.default.fileExists(atPath: opened.path.string))
    }

    // MARK: Marks

    private func excluded() throws -> URL {
        let engine = try engine(isRecovering: true)
        let metadata = ItemMetadata(key: "k", destination: .documents("Map.bin", backup: .exclude))
        try engine.store(prose(3000), as: metadata)
        let file = try #require(try engine.open("k").value).url
        try engine.close()
        return file
    }

    @Test func aLostMarkIsPutOnAgain() throws {
        let file = try excluded()
        guard try file.backupPolicy == .exclude else { return }
        try file.set(.include)
        #expect(try repair() == [.markRestored])
        #expect(try file.backupPolicy == .exclude)
    }

    @Test func theMarkOfStagingIsPutOnAgain() throws {
        let file = try excluded()
        guard try file.backupPolicy == .exclude else { return }
        try container.staging.set(.include)
        #expect(try repair() == [.markRestored])
    }

    @Test func whatItsUserHasChangedGetsNoMark() throws {
        let file = try excluded()
        try prose(3000, seed: 8).write(to: file)
        try file.set(.include)
        #expect(try repair() == [])
        #expect(try file.backupPolicy == .include)
        let engine = try engine()
        #expect(try engine.repair(isDryRun: true).skipped.map(\.key) == ["k"])
        try engine.close()
    }

    @Test func everythingAtOnceAndForeignFilesAreUntouched() throws {
        try fill("a", "b")
        let folders =
            ["items", "incoming", "quarantine"].map { container.caches.appending(path: $0) }
            + [container.support, container.staging, container.documents]
        var foreign: [ForeignFile] = []
        for folder in folders {
            try folder.makeFolder()
            for name in ["note.txt", ".hidden", "\u{202E}fdp", "a\nb", String(repeating: "0", count: 31)] {
                let file = folder.appending(path: name)
                try Data("mine: \(name)".utf8).write(to: file)
                foreign.append(try ForeignFile(file))
            }
        }
        try container.item("a").remove()
        try container.catalog.remove()
        #expect(try repair() == [.catalogRebuilt])
        for file in foreign { #expect(try file.isUntouched, "\(file.url.path)") }
    }

    @Test func whatCannotBeDoneIsToldAndTheRestIsDone() throws {
        try fill("a")
        try container.catalog.execute(sql: "UPDATE total SET items = 77 WHERE kind = 0")
        let fileSystem = InterceptingFileSystem(failing: .ioError) {
            $0.kind == .entries && $0.name == "quarantine"
        }
        try container.quarantine.makeFolder()
        let engine = try container.engine(
            fileSystem: fileSystem, now: { Int64(Date().timeIntervalSince1970 * 1000) + 60_000 },
            isRecovering: false)
        let report = try engine.repair(isDryRun: false)
        #expect(report.failures.map(\.location) == [.quarantine])
        #expect(report.steps.map(\.action) == [.statisticsCorrected])
    }
}
