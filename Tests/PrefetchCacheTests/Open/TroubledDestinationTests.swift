import FileSystemTestSupport
import Foundation
import PrefetchFileSystem
import SystemPackage
import Testing

@testable import PrefetchCaching

/// A destination that refuses a promotion costs that promotion, for now, and nothing else.
@Suite struct TroubledDestinationTests {
    private let container = TemporaryContainer.make()

    /// A file system on which nothing can be renamed into Documents.
    private func refusing(_ errno: Errno) -> InterceptingFileSystem {
        InterceptingFileSystem(failing: errno) { $0.kind == .rename && $0.newName == "key" }
    }

    @Test(arguments: [ItemEncoding.lz4, .identity])
    func theRestOfTheCacheGoesOnAndALaterOpenSucceeds(encoding: ItemEncoding) throws {
        do {
            let engine = try container.engine(fileSystem: refusing(.permissionDenied))
            try engine.store(prose(9000), "key", encoding: .forced(encoding))
            try engine.store(prose(400), "other")
            #expect {
                try engine.open("key")
            } throws: { error in
                guard case CacheError.destination(let path, _) = error else { return false }
                return path.hasSuffix("/key")
            }
        }
        let beside = try container.engine(fileSystem: refusing(.permissionDenied))
        #expect(try beside.content("other") == prose(400))
        #expect(try beside.statistics().items >= 1)

        let later = try container.engine()
        let opened = try #require(try later.open("key").value)
        #expect(try Data(contentsOf: opened.url) == prose(9000))
        #expect(try container.files(below: container.documents) == ["key"])
    }

    enum Trouble: CaseIterable {
        case stagedFileIsUnreadable, stagingIsUnreadable, volumeIsFull
    }

    @Test(arguments: Trouble.allCases)
    func whatRecoveryCannotDoKeepsNobodyOut(trouble: Trouble) throws {
        do {
            let engine = try container.engine(fileSystem: refusing(.permissionDenied))
            try engine.store(noise(9000), "key")
            #expect(throws: CacheError.self) { try engine.open("key") }
        }
        let staging = container.staging.path
        let fileSystem = InterceptingFileSystem { operation throws(FileSystemError) in
            let isStaging = operation.path == staging
            let isStaged = operation.kind == .read && operation.name.count > 33
            switch trouble {
            case .stagedFileIsUnreadable where isStaged, .stagingIsUnreadable where isStaging:
                if operation.kind == .read || operation.kind == .entries {
                    throw FileSystemError("\(operation.kind)", errno: .ioError)
                }
            default: break
            }
        }
        let full = FixedVolumeProbe(VolumeState(total: 1 << 40, available: 0))
        let troubled = try container.engine(
            fileSystem: fileSystem, probe: trouble == .volumeIsFull ? full : .roomy)
        #expect(try troubled.content("nothing") == nil)
        let later = try container.engine()
        #expect(try Data(contentsOf: #require(try later.open("key").value).url) == noise(9000))
    }

    @Test func aFileThatIsPromotedIsGivenEvenWhenItsCachedCopyCannotBeRemoved() throws {
        let fileSystem = InterceptingFileSystem()
        let engine = try container.engine(fileSystem: fileSystem)
        let copy = CacheLayout.file(of: ItemKey("key").hash).string
        fileSystem.fail(.readOnlyFileSystem) { $0.kind == .unlink && $0.name == copy }
        try engine.store(prose(9000), "key")
        #expect(try engine.open("key").value?.isFirstOpen == true)
        #expect(try engine.open("key").value?.isFirstOpen == false)
        fileSystem.intercept { _ in }
        #expect(try engine.open("key").value?.isFirstOpen == false)
        #expect(!container.item("key").exists)
    }

    @Test func whatIsNoItemIsNotRemovedAsACachedCopy() throws {
        let engine = try container.engine()
        try engine.store(prose(9000), "key")
        _ = try engine.open("key")
        let elsewhere = container.root.appending(path: "elsewhere")
        try container.item("key").makeLink(to: elsewhere)
        #expect(try engine.open("key").value?.isFirstOpen == false)
        let link = try FileManager.default.destinationOfSymbolicLink(atPath: container.item("key").path)
        #expect(link == elsewhere.path)
    }

    @Test func aMarkThatWasLostWhenItCouldNotBeLookedAtIsPutOnByRecovery() throws {
        let fileSystem = InterceptingFileSystem(with: [.forgetfulRename])
        let metadata = ItemMetadata(key: "key", destination: .documents("key", backup: .exclude))
        do {
            let engine = try container.engine(fileSystem: fileSystem)
            try engine.store(prose(9000), as: metadata)
            fileSystem.fail { $0.kind == .open && $0.name == "key" }
            #expect(throws: CacheError.self) { try engine.open("key") }
        }
        let opened = try #require(try container.engine().open("key").value)
        #expect(try opened.url.backupPolicy == .exclude)
    }

    /// Trying a name costs a transaction of the ledger, looking at it does not.
    @Test func namesThatAreTakenAreNotEnteredOneByOne() throws {
        let world = SimulatedWorld()
        let item = SimulatedItem("text.txt", .lz4)
        try world.cache(item)
        let plain: FileName = "text.txt"
        for name in [plain] + (2...40).map(plain.numbered) {
            try world.write(Array("taken".utf8), to: SimulatedWorld.areas.documents.pushing(name.path))
        }
        let engine = try world.engine()
        let log = OperationLog()
        world.fileSystem.intercept { log.add($0) }
        let opened = try #require(try engine.open(item.key).value)
        #expect(opened.path.lastComponent?.string == "text (41).txt")
        #expect(log.operations.count { $0.kind == .commit } == 3)
    }

    @Test func anItemIsNotTakenOutOfTheCacheForAFolderThatCannotBeWritten() throws {
        let fileSystem = InterceptingFileSystem()
        let engine = try container.engine(fileSystem: fileSystem)
        try engine.store(noise(9000), "key")
        let documents = container.documents.path
        fileSystem.fail(.readOnlyFileSystem) { $0.kind == .access && $0.name == documents }
        #expect(throws: CacheError.self) { try engine.open("key") }
        #expect(try engine.content("key") == noise(9000))
        #expect(container.item("key").exists)
    }

    @Test(.enabled(if: SmallVolume.isPossible)) func aDestinationThatIsTooSmallLeavesTheItemCached() throws {
        let volume = try SmallVolume(.tmpfs, megabytes: 4)
        try container.documents.makeLink(to: volume.root)
        let content = prose(8_000_000)
        let engine = try container.engine(probe: nil)
        try engine.store(content, "key")
        let before = try container.files(below: volume.root)
        #expect {
            try engine.open("key")
        } throws: { error in
            guard case CacheError.insufficientSpace(Int64(content.count), let available) = error else {
                return false
            }
            return (1...4 << 20).contains(available)
        }
        #expect(try container.files(below: volume.root) == before)
        #expect(try engine.content("key") == content)
    }

    @Test func noSpaceForTheDecodedContentNamesTheDestination() throws {
        let fileSystem = InterceptingFileSystem()
        let engine = try container.engine(fileSystem: fileSystem)
        try engine.store(prose(9000), "key")
        fileSystem.fail(.noSpace) { $0.kind == .write }
        #expect {
            try engine.open("key")
        } throws: { error in
            guard case CacheError.destination(_, let cause) = error else { return false }
            return cause.isOutOfSpace
        }
        fileSystem.intercept { _ in }
        #expect(try engine.content("key") == prose(9000))
        #expect(try container.files(below: container.documents).isEmpty)
    }

    /// Whatever the clock says: it may have been wrong when the item was stored, or be wrong now.
    @Test(
        arguments: [("boot-1", "boot-1", true), ("boot-1", "boot-2", false), ("", "", false)],
        [-10 * 365 * 86_400_000, 0, 10 * 365 * 86_400_000] as [Int64])
    func aLargeIdentityItemIsReadUnlessItWasStoredInThisBoot(
        _ boots: (stored: String, opened: String, isTrusted: Bool), shift: Int64
    ) throws {
        let now = Int64(Date().timeIntervalSince1970 * 1000)
        let writer = try container.engine(boot: boots.stored, now: { now })
        try writer.store(noise(5_000_000), "key")
        try writer.close()
        try container.item("key").overwrite(Data(repeating: 0, count: 4096), at: 700_000)

        let engine = try container.engine(boot: boots.opened, now: { now + shift })
        if boots.isTrusted {
            #expect(try engine.open("key").value != nil)
        } else {
            #expect(try engine.open("key").miss?.isDamage == true)
            #expect(try container.files(below: container.documents).isEmpty)
        }
    }

    enum Moment: CaseIterable {
        /// The footer was read, the length of the file was not.
        case destinationIsTried, itemIsMoved, footerIsCut

        func hasCome(_ operation: FileSystemTestSupport.Operation, of item: URL) -> Bool {
            switch self {
            case .destinationIsTried: operation.kind == .rename && operation.name.hasPrefix(".")
            case .itemIsMoved: operation.kind == .rename && item.path.hasSuffix(operation.name)
            case .footerIsCut: operation.kind == .resize && operation.name != "generation"
            }
        }
    }

    /// The system also empties files. Cut to the length of its content, an emptied one would be a file of zeros.
    @Test(
        arguments: [
            (5000, ["key"]), (5000, ["key", "other"]), (5_000_000, ["key"]), (5_000_000, ["key", "other"]),
        ] as [(Int, [ItemKey])],
        Moment.allCases)
    func anItemThatIsEmptiedWhileItIsTakenIsAMiss(_ items: (Int, [ItemKey]), when moment: Moment) throws {
        // Not every file system reports holes. Up to the cut, the length tells.
        let fileSystem = InterceptingFileSystem(with: moment == .footerIsCut ? [] : [.hiddenHoles])
        let engine = try container.engine(fileSystem: fileSystem)
        let (length, keys) = items
        for key in keys { try engine.store(noise(length), key, encoding: .forced(.identity)) }
        let item = container.item("key")
        // The system has opened it by its name in Caches.
        let file = try FileHandle(forUpdating: item)
        let calls = fileSystem.once(before: { moment.hasCome($0, of: item) }) {
            #expect(throws: Never.self) { try file.truncate(atOffset: 0) }
        }
        let opened = engine.open(keys, for: .never)
        #expect(calls.next() > 0)
        #expect(try opened[0].get().value == nil)
        #expect(try opened.dropFirst().allSatisfy { try $0.get().value?.isFirstOpen == true })
        #expect(try engine.ledger.entry(for: "key") == nil)
        #expect(try container.files(below: container.documents) == keys.dropFirst().map(\.string))
        #expect(try container.staged() == [])
        #expect(try engine.statistics().chargedBytes == container.chargedOnDisk())
    }

    /// Whoever may write to staging can put another file there once the right one is verified.
    @Test(arguments: [ItemEncoding.lz4, .identity])
    func aStagedFileThatIsExchangedIsNotHandedOver(_ encoding: ItemEncoding) throws {
        let fileSystem = InterceptingFileSystem()
        let engine = try container.engine(fileSystem: fileSystem)
        try engine.store(prose(9000), "key", encoding: .forced(encoding))
        let staging = container.staging
        let calls = CallCounter()
        fileSystem.intercept { operation throws(FileSystemError) in
            // The last look at it.
            guard operation.kind == .attributes, operation.path?.contains("/staging/") ?? false,
                FileManager.default.contents(atPath: staging.appending(path: operation.name).path)?.count
                    == 9000,
                calls.next() == 0
            else { return }
            let staged = staging.appending(path: operation.name)
            guard (try? Data("forged".utf8).write(to: staged, options: .atomic)) != nil else {
                throw FileSystemError("write", errno: .ioError)
            }
        }
        expectDestinationError(.staleNFSFileHandle) { try engine.open("key") }
        #expect(calls.next() > 0)
        #expect(try container.files(below: container.documents).isEmpty)
        // Nothing but that file was lost: of an item that is decoded, the cached copy is still there.
        let opened = try container.engine().open("key").value
        #expect((opened != nil) == (encoding == .lz4))
        if let opened { #expect(try Data(contentsOf: opened.url) == prose(9000)) }
        try #require(try container.files(below: container.documents).count == (encoding == .lz4 ? 1 : 0))
    }
}
