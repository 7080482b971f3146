import FileSystemTestSupport
import Foundation
import PrefetchFileSystem
import Synchronization
import SystemPackage
import Testing

@testable import PrefetchCaching
@testable import PrefetchStorageAreas

/// iCloud Drive that is not there, and whom the cache shares it with.
@Suite struct ICloudDriveAccountTests {
    private let container = TemporaryContainer.make()

    /// The container of a user without an account.
    private func areas() throws -> StorageAreas {
        let areas = try container.areas()
        return StorageAreas(
            documents: areas.documents, applicationSupport: areas.applicationSupport, caches: areas.caches,
            temporary: areas.temporary, iCloudDrive: nil)
    }

    private let unavailable = CacheError.destinationUnavailable(.iCloudDrive)

    @Test(arguments: [ItemEncoding.lz4, .identity])
    func withoutAnAccountTheItemStaysCachedUntilThereIsOne(encoding: ItemEncoding) throws {
        do {
            let engine = try container.engine(areas: areas())
            try engine.store(prose(5000), "key", to: .iCloudDrive, encoding: .forced(encoding))
            #expect(throws: unavailable) { try engine.open("key") }
            #expect(try engine.content("key") == prose(5000))
            #expect(try engine.items().count == 1)
        }
        let opened = try #require(try container.engine().open("key").value)
        #expect(opened.isFirstOpen)
        #expect(try Data(contentsOf: opened.url) == prose(5000))
    }

    @Test func whatWasAskedForIsRefusedBeforeItIsDownloaded() throws {
        let engine = try container.engine(areas: areas())
        let metadata = ItemMetadata("key", to: .iCloudDrive, intent: .userRequested)
        let requested = metadata
        #expect(throws: unavailable) {
            _ = try engine.beginStore(requested, encoding: .automatic, expectedLength: 9)
        }
    }

    /// Nobody can tell whether the file is there: it is not taken for one that was deleted.
    @Test func aFileIsNotGoneBecauseTheAccountIs() throws {
        do {
            let engine = try container.engine()
            try engine.store(prose(5000), "key", to: .iCloudDrive)
            #expect(try engine.open("key").value?.isFirstOpen == true)
        }
        do {
            let engine = try container.engine(areas: areas())
            #expect(throws: unavailable) { try engine.open("key") }
            #expect(throws: unavailable) { try engine.store(prose(6000), "key", to: .iCloudDrive) }
            try engine.store(prose(400), "other")
            #expect(try engine.open("other").value != nil)
        }
        #expect(try container.engine().open("key").value?.isFirstOpen == false)
    }

    /// An interrupted promotion waits for the account, and the cache opens without it.
    @Test func anInterruptedPromotionWaits() throws {
        let failing = InterceptingFileSystem(failing: .ioError) { $0.kind == .rename && $0.newName == "key" }
        do {
            let engine = try container.engine(fileSystem: failing)
            try engine.store(noise(5000), "key", to: .iCloudDrive)
            #expect(throws: CacheError.self) { try engine.open("key") }
        }
        do {
            let engine = try container.engine(areas: areas())
            try engine.store(prose(400), "other")
            #expect(try engine.open("other").value != nil)
            #expect(throws: unavailable) { try engine.open("key") }
        }
        let opened = try #require(try container.engine().open("key").value)
        #expect(try Data(contentsOf: opened.url) == noise(5000))
    }

    /// Staging has to be on the volume of the destination, and what is staged there would be uploaded.
    @Test(arguments: [ItemEncoding.lz4, .identity])
    func anotherVolumeIsRefusedAndNothingIsStagedThere(encoding: ItemEncoding) throws {
        let fileSystem = InterceptingFileSystem()
        let engine = try container.engine(fileSystem: fileSystem)
        try engine.store(prose(5000), "key", to: .iCloudDrive, encoding: .forced(encoding))
        let iCloudDrive = container.iCloudDrive.path + "/"
        fileSystem.fail(.improperLink) { $0.kind == .rename && $0.newPath?.hasPrefix(iCloudDrive) == true }
        expectDestinationError(.improperLink) { try engine.open("key") }
        #expect(try engine.content("key") == prose(5000))
        #expect(try FileManager.default.contentsOfDirectory(atPath: container.iCloudDrive.path).isEmpty)
    }

    #if os(Linux)
        /// While somebody else has access, a promotion waits before it publishes.
        @Test func anotherProcessWaitsForItsCoordinator() throws {
            do {
                let engine = try container.engine()
                try engine.store(prose(5000), "key", to: .iCloudDrive)
                try engine.close()
            }
            let file = FilePath(container.root.path).appending("coordination.lock")
            let fileSystem = LiveFileSystem()
            let lock = try fileSystem.open(file, in: .workingDirectory, .createIfMissing(.ownerReadWrite))
            #expect(try fileSystem.lock(lock, waiting: false))
            let hasEnded = Atomic(false)
            let opened = Mutex<[ItemKey: String]>([:])
            let ended = DispatchSemaphore(value: 0)
            let container = container
            Thread.detachNewThread {
                do {
                    let other = try PromotingProcess(
                        ["--coordinator", file.string, "open=key"], in: container)
                    opened.withLock { $0 = other.opened }
                } catch {
                    Issue.record(error)
                }
                hasEnded.store(true, ordering: .releasing)
                ended.signal()
            }
            let inode = try fileSystem.attributes(of: lock).identity.inode
            while try !isWaitedFor(inode) {
                guard !hasEnded.load(ordering: .acquiring) else {
                    Issue.record("it did not wait")
                    break
                }
            }
            #expect(try container.files(below: container.iCloudDrive) == [])
            fileSystem.unlock(lock)
            ended.wait()
            #expect(opened.withLock { Array($0.keys) } == ["key"])
            #expect(try container.files(below: container.iCloudDrive) == ["key"])
        }

        /// Whether a process waits for the lock of a file: only then has it an arrow in the list of the kernel.
        private func isWaitedFor(_ inode: UInt64) throws -> Bool {
            // Foundation takes the first page of this file for all of it.
            let locks = try LiveFileSystem().contents(
                ofStream: "/proc/locks", in: .workingDirectory, limit: 16 << 20)
            return String(decoding: locks, as: UTF8.self).split(separator: "\n").contains {
                $0.contains("-> FLOCK") && $0.contains(":\(inode) ")
            }
        }
    #endif
}
