import FileSystemTestSupport
import Foundation
import PrefetchCaching
import PrefetchFileSystem
import Synchronization
import SystemPackage
import Testing

@testable import StorageInventory

@Suite final class WalkTests: ContainerSuite {
    // MARK: Sums

    @Test func theTotalsAreThoseOfDU() throws {
        try container.write(Data(repeating: 1, count: 100_000), to: "Documents/large.bin")
        try container.link("Documents/large.bin", to: "Library/Caches/same.bin")
        try FileManager.default.createSymbolicLink(
            atPath: container.url("Documents/link").path,
            withDestinationPath: String(repeating: "x", count: 300))

        let totals = InventoryTotals(of: try container.inventory())
        let output = try Command.run("/usr/bin/du", "-s", "--block-size=1", container.root.path)
        #expect(output.hasPrefix("\(totals.allocated)\t"))
        #expect(totals.documentsAndData + totals.cachesAndTemporary == totals.allocated)
    }

    @Test func theTotalsAreThoseOfAnotherWalk() throws {
        let lengths = try FileManager.default.subpathsOfDirectory(atPath: container.root.path)
            .map { try FileManager.default.attributesOfItem(atPath: container.url($0).path) }
            .filter { $0[.type] as? FileAttributeType == .typeRegular }.map { $0[.size] as? Int64 ?? 0 }
        let totals = InventoryTotals(of: try container.inventory())
        #expect(totals.files == lengths.count)
        #expect(totals.length == lengths.reduce(0, +))
    }

    @Test func aBackupIsWhatIsNeitherMarkedNorInAnAreaThatIsLeftOut() throws {
        let inventory = try container.inventory()
        let totals = InventoryTotals(of: inventory)
        let own = inventory.files.filter { $0.kind == .record }
            .reduce(0) { $0 + $1.length }
        let (letter, preferences, film) = (12, 7, content("film").count)
        #expect(totals.backupLength == Int64(letter + preferences + film) + own)
        #expect(totals.intendedBackupLength == totals.backupLength)
    }

    /// Whichever name the walk finds first.
    @Test func aFileWithAnotherNameWhereNothingIsBackedUpIsInTheBackup() throws {
        let before = InventoryTotals(of: try container.inventory())
        var length: Int64 = 0
        let names = (0..<8).flatMap { ["Own \($0)", "Library/Own \($0)"] }
        for (number, folder) in (["Documents", "Library/Application Support"] + names).enumerated() {
            let content = Data(repeating: 1, count: 1000 + number)
            try container.write(content, to: "\(folder)/file")
            for excluded in ["tmp", "Library/Caches"] {
                try container.write(Data(), to: "\(excluded)/other")
                try container.link("\(folder)/file", to: "\(excluded)/\(number)")
            }
            length += Int64(content.count)
        }
        let totals = InventoryTotals(of: try container.inventory())
        #expect(totals.backupLength == before.backupLength + length)
        #expect(totals.intendedBackupLength == before.intendedBackupLength + length)
        #expect(totals.groups.reduce(0) { $0 + $1.backedUp } == totals.backupLength)
        #expect(
            (totals.excludedLength["area"] ?? 0) == (before.excludedLength["area"] ?? 0) + length)
    }

    // MARK: What is dangerous to walk

    /// Makes folders in one another, each with a sister that waits until the walk comes back. A folder lists its
    /// names in the order of their hashes, so that either kind is the first to be walked on every other level.
    private func makeDeepFolder(_ names: [String], levels: Int) throws {
        var folder = try Directory.openOrCreate(
            FilePath(container.url("Documents").path), permissions: .ownerReadWriteExecute,
            in: LiveFileSystem())
        for level in 0..<levels {
            let sister = FilePath(names[level % 2])
            _ = try folder.openOrCreate(sister, permissions: .ownerReadWriteExecute)
            let next = FilePath(names[1 - level % 2])
            folder = try folder.openOrCreate(next, permissions: .ownerReadWriteExecute)
        }
        try folder.fileSystem.withFile("bottom", in: folder.descriptor, .createNew(.ownerReadWrite)) { _ in }
    }

    @Test func aFolderMayBeDeeperThanAPathIsLongAndFewAreOpenAtATime() throws {
        let (levels, repetitions) = TestRun.isLong ? (1000, 1) : (90, 5)
        let names = ["tenletters", "elevenchars"].map { String(repeating: $0, count: repetitions) }
        try makeDeepFolder(names, levels: levels)
        let open = Mutex(0)
        let fileSystem = InterceptingFileSystem(isOutside: true)
        fileSystem.intercept { [weak fileSystem] _ in
            let count = fileSystem?.openFiles ?? 0
            open.withLock { $0 = max($0, count) }
        }
        let inventory = try container.inventory(fileSystem)
        let bottom = try #require(inventory.files.first { $0.name.string == "bottom" })
        #expect(inventory.path(of: bottom).components.count == levels + 2)
        #expect(inventory.path(of: bottom).length > 4096)
        #expect(inventory.folders.count { names.contains($0.name.string) } == 2 * levels)
        #expect(inventory.problems == [])
        #expect(open.withLock { $0 } < 80)
    }

    @Test func linksAreNotFollowed() throws {
        let outside = try FileSystemTestSupport.TemporaryFolder()
        try outside.write("outside", to: "secret.txt")
        let links = [
            ("Documents/circle", "../Documents"), ("Documents/self", "self"),
            ("Documents/out", outside.path.string), ("tmp", outside.path.string),
        ]
        for (name, target) in links {
            try FileManager.default.createSymbolicLink(
                atPath: container.url(name).path, withDestinationPath: target)
        }
        let inventory = try container.inventory()
        #expect(inventory.files.count { $0.kind == .link } == links.count)
        #expect(!inventory.files.contains { $0.name.string == "secret.txt" })
        #expect(inventory.problems == [])
    }

    @Test func aPipeDoesNotStopTheWalk() throws {
        try Command.run("/usr/bin/mkfifo", container.url("Documents/pipe").path)
        #expect(try container.inventory().files.contains { $0.kind == .special })
        #expect(try container.findings() == [])
    }

    @Test func whatGoesMeanwhileIsSkipped() throws {
        let root = container.root
        let fileSystem = InterceptingFileSystem(isOutside: true) { operation throws(FileSystemError) in
            guard operation.kind == .attributes, operation.name == "letter.txt" else { return }
            do {
                try FileManager.default.removeItem(at: root.appending(path: "Documents/letter.txt"))
                try FileManager.default.removeItem(at: root.appending(path: "Documents/Films"))
            } catch {
                throw FileSystemError("test", errno: .ioError)
            }
        }
        let inventory = try container.inventory(fileSystem)
        #expect(inventory.vanished > 0)
        #expect(inventory.problems == [])
        #expect(!inventory.files.contains { $0.name.string == "letter.txt" })
        #expect(inventory.files.contains { $0.kind == .item })
    }

    @Test func aFolderThatMayNotBeReadIsAProblemAndTheWalkGoesOn() throws {
        let fileSystem = failing { $0.kind == .open && $0.name == "Films" }
        let inventory = try container.inventory(fileSystem)
        #expect(inventory.problems.map(\.path) == ["Documents/Films"])
        #expect(inventory.files.contains { $0.name.string == "letter.txt" })
        #expect(inventory.folders.contains { $0.name == "Films" })
        // Nobody can tell whether the opened file is there.
        #expect(findings(of: inventory, in: fileSystem) == [])
    }

    /// The marks and tags that cannot be read, and where.
    private static let unreadable: [(FileSystemTestSupport.Operation.Kind, String)] = [
        (.open, "staging"), (.noDump, "staging"), (.extendedAttribute, "staging"), (.open, "files"),
        (.noDump, "files"), (.noDump, "Map.txt"), (.open, "Map.txt"), (.open, "CACHEDIR.TAG"),
        (.open, "Caches"), (.noDump, "Caches"), (.open, "Application Support"),
    ]

    @Test(arguments: unreadable)
    func whatCannotBeReadHasNotLostItsMark(_ kind: FileSystemTestSupport.Operation.Kind, _ name: String)
        throws
    {
        // A folder that would be taken for a cache if it had no mark.
        let folder = "Library/Application Support/org.example.app/Caches"
        try write("x", to: "\(folder)/data")
        try container.mark(.exclude, folder)
        #expect(try container.findings() == [])
        let fileSystem = failing { $0.kind == kind && $0.name == name }
        let inventory = try container.inventory(fileSystem)
        #expect(findings(of: inventory, in: fileSystem) == [])
        #expect(inventory.files.contains { $0.name.string == "letter.txt" })
    }

    @Test(.enabled(if: geteuid() == 0))
    func aFileSeenThroughABindMountIsOneFile() throws {
        try container.write(content("song"), to: "Library/Application Support/music/song.txt")
        let before = InventoryTotals(of: try container.inventory())
        let mounted = container.url("Library/Application Support/mounted")
        try FileManager.default.createDirectory(at: mounted, withIntermediateDirectories: false)
        let music = container.url("Library/Application Support/music").path
        try Command.run("/bin/mount", "--bind", music, mounted.path)
        let (inventory, findings) = (
            Result { try container.inventory() }, Result { try container.findings() }
        )
        try Command.run("/bin/umount", mounted.path)
        let totals = InventoryTotals(of: try inventory.get())
        #expect(try findings.get() == [])
        #expect(try inventory.get().files.count { $0.name.string == "song.txt" } == 2)
        #expect(totals.length == before.length)
        #expect(totals.backupLength == before.backupLength)
        #expect(totals.allocated == before.allocated)
    }

    @Test func bytesThatAreNoTextAreShownOneByOne() {
        let bytes: [CChar] = [0x61, -1, -62, 0x62, -61, -87, 0]
        let path = bytes.withUnsafeBufferPointer { FilePath(platformString: $0.baseAddress!) }
        #expect(path.displayText == "a\\xFF\\xC2bé")
        #expect(!path.isText)
        #expect(path.bytes == [0x61, 0xFF, 0xC2, 0x62, 0xC3, 0xA9])
    }

    // MARK: Nothing is changed

    @Test func anInventoryChangesNothing() throws {
        let before = try Photograph(of: container.root)
        let changes = Mutex<[String]>([])
        let fileSystem = InterceptingFileSystem(isOutside: true) { operation in
            // Reading the flag is one kind with setting it.
            guard operation.isChange, operation.kind != .noDump else { return }
            changes.withLock { $0.append(operation.description) }
        }
        _ = try container.inventory(fileSystem)
        #expect(try Photograph(of: container.root) == before)
        #expect(changes.withLock { $0 } == [])
    }
}
