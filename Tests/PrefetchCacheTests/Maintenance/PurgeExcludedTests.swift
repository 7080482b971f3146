import FileSystemTestSupport
import Foundation
import PrefetchFileSystem
import Synchronization
import SystemPackage
import Testing

@testable import PrefetchCaching

@Suite struct PurgeExcludedTests {
    private static let day: Int64 = 86_400_000
    private let container = TemporaryContainer.make()

    private var now: Int64 { Int64(Date().timeIntervalSince1970 * 1000) }

    /// - Parameter age: How many days the clock of this session is behind.
    private func engine(daysAgo age: Int64 = 0, _ fileSystem: any FileSystem = LiveFileSystem()) throws
        -> Engine
    {
        try container.engine(
            fileSystem: fileSystem, now: { Int64(Date().timeIntervalSince1970 * 1000) - age * Self.day })
    }

    /// Opens an item 100 days ago, and gives its file the times of then.
    private func open(
        _ key: ItemKey, backup: BackupPolicy = .exclude, in folder: FolderPath? = nil,
        encoding: EncodingChoice = .automatic
    ) throws -> URL {
        let engine = try engine(daysAgo: 100)
        let metadata = ItemMetadata(
            key: key,
            destination: .applicationSupport(FileName(sanitizing: key.string), in: folder, backup: backup))
        try engine.store(prose(9000, seed: key.hash.low), as: metadata, encoding: encoding)
        let file = URL(filePath: try #require(try engine.open(key).value).path.string)
        try engine.close()
        try setTimes(of: file, daysAgo: 100)
        return file
    }

    private func setTimes(of file: URL, daysAgo age: Int64, accessed: Int64? = nil) throws {
        try file.setModified(Double(now - age * Self.day) / 1000)
        try file.setAccessed((now - (accessed ?? age) * Self.day) * 1_000_000)
    }

    private func purge(days: Int64 = 30, isDryRun: Bool = false) throws -> PurgeReport {
        let engine = try engine()
        defer { #expect(throws: Never.self) { try engine.close() } }
        return try engine.purgeExcluded(unusedSince: now - days * Self.day, isDryRun: isDryRun)
    }

    @Test func anUnusedExcludedFileGoesAndCanBeStoredAgain() throws {
        let file = try open("old", in: "Maps/Europe")
        let told = try purge(isDryRun: true)
        #expect(told.purged.map(\.key) == ["old"] && told.purgedBytes == 9000)
        #expect(file.exists)
        #expect(try purge() == told, "and looking did not count as use")
        #expect(!file.exists)
        let engine = try engine()
        #expect(try engine.ledger.entry(for: "old") == nil)
        #expect(try engine.store(prose(10), "old").isStored)
        #expect(try engine.open("old").value?.isFirstOpen == true)
    }

    @Test func whatIsBackedUpStays() throws {
        let file = try open("mine", backup: .include)
        #expect(try purge() == PurgeReport())
        #expect(file.exists)
    }

    @Test(arguments: ["modified", "accessed", "handed over"])
    func whatWasUsedLatelyStays(_ how: String) throws {
        let file = try open("used")
        switch how {
        case "modified": try setTimes(of: file, daysAgo: 5, accessed: 100)
        case "accessed": try setTimes(of: file, daysAgo: 100, accessed: 5)
        default:
            let engine = try engine(daysAgo: 5)
            var entry = try #require(try engine.ledger.entry(for: "used"))
            entry.openedAt = engine.environment.now()
            try engine.ledger.put(entry)
        }
        #expect(try purge() == PurgeReport())
        #expect(file.exists)
        #expect(try purge(days: 4).purged.count == 1)
    }

    @Test func openingItAgainIsAUse() throws {
        let file = try open("opened")
        let engine = try engine(daysAgo: 5)
        #expect(try engine.open("opened").value?.isFirstOpen == false)
        #expect(try purge() == PurgeReport())
        #expect(file.exists)
        #expect(try purge(days: 4).purged.count == 1)
    }

    @Test(arguments: ["same length", "longer", "replaced", "link"])
    func whatItsUserHasChangedStays(_ how: String) throws {
        let file = try open("mine")
        let others = container.root.appending(path: "others")
        switch how {
        case "same length": try prose(9000, seed: 77).write(to: file)
        case "longer":
            try file.overwrite(Data("more".utf8), at: 9000)
        case "replaced":
            try file.remove()
            try Data("mine".utf8).write(to: file)
        default:
            try file.move(to: others)
            try file.makeLink(to: others)
        }
        let before = try Data(contentsOf: file)
        if how != "link" { try setTimes(of: file, daysAgo: 100) }
        let report = try purge()
        #expect(report.purged.isEmpty)
        #expect(report.changed.map(\.key) == (how == "link" ? [] : ["mine"]))
        #expect(try Data(contentsOf: file) == before)
        #expect(try engine().ledger.entry(for: "mine") != nil)
    }

    @Test func aFileThatIsWrittenWhileItIsReadStays() throws {
        let file = try open("mine")
        let fileSystem = InterceptingFileSystem()
        let engine = try engine(daysAgo: 0, fileSystem)
        fileSystem.intercept { operation in
            guard operation.kind == .read, operation.name == "mine", operation.offset > 0 else { return }
            do { try Data("changed".utf8).write(to: file) } catch { Issue.record(error) }
        }
        let report = try engine.purgeExcluded(unusedSince: now, isDryRun: false)
        #expect(report.purged.isEmpty && report.changed.count == 1)
        #expect(try Data(contentsOf: file) == Data("changed".utf8))
    }

    @Test func whatDiedInBetweenHasNoFileAndItsKeyIsFree() throws {
        let file = try open("old")
        let fileSystem = InterceptingFileSystem()
        let engine = try engine(daysAgo: 0, fileSystem)
        let isRemoved = Mutex(false)
        fileSystem.intercept { operation throws(FileSystemError) in
            if operation.kind == .unlink { isRemoved.withLock { $0 = true } }
            guard operation.kind == .synchronize, isRemoved.withLock({ $0 }) else { return }
            throw FileSystemError("fsync", errno: .ioError)
        }
        let report = try engine.purgeExcluded(unusedSince: now - 30 * Self.day, isDryRun: false)
        #expect(report.purged.map(\.key) == ["old"] && report.failures.map(\.key) == ["old"])
        #expect(!file.exists)
        let next = try self.engine()
        #expect(try next.store(prose(10), "old").isStored)
    }

    @Test func oneThatCannotBeRemovedDoesNotKeepTheOthers() throws {
        let files = try (0..<5).map { try open(ItemKey(number: $0)) }
        let fileSystem = InterceptingFileSystem()
        let engine = try engine(daysAgo: 0, fileSystem)
        fileSystem.fail(.notPermitted) { $0.kind == .rename && $0.name == files[2].lastPathComponent }
        let report = try engine.purgeExcluded(unusedSince: now - 30 * Self.day, isDryRun: false)
        #expect(report.purged.count == 4)
        #expect(report.failures.map(\.key) == [try ItemKey(number: 2)])
        #expect(files.map(\.exists) == [false, false, true, false, false])
    }

    /// Two keys, such as the addresses of two mirrors, whose content and file name are the same.
    @Test func aFileThatAnotherKeyWasHandedStays() throws {
        let file = try open("one")
        let engine = try engine()
        let destination = Destination.applicationSupport("one", backup: .exclude)
        try engine.store(
            prose(9000, seed: ItemKey("one").hash.low),
            as: ItemMetadata(key: "other", destination: destination))
        #expect(try engine.open("other").value?.path.string == file.path)
        try engine.close()
        try setTimes(of: file, daysAgo: 100)
        let report = try purge()
        #expect(report.purged.isEmpty && report.shared.map(\.key) == ["one"])
        #expect(file.exists)
        let next = try self.engine()
        #expect(try next.open("other").value?.path.string == file.path)
        _ = try next.forget("other")
        try next.close()
        try setTimes(of: file, daysAgo: 100)
        #expect(try purge().purged.map(\.key) == ["one"])
    }
}
