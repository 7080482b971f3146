import FileSystemTestSupport
import Foundation
import PrefetchFileSystem
import SystemPackage
import Testing

@testable import PrefetchCaching

/// Destinations in folders below an area.
@Suite struct FolderTests {
    private static let folder: FolderPath = "Podcasts/Daily"
    private let container: TemporaryContainer

    init() throws {
        container = try TemporaryContainer()
    }

    private func top(_ area: Area) -> URL {
        area == .documents ? container.documents : container.support.appending(path: "files")
    }

    private func expectDestinationError(
        sourceLocation: SourceLocation = #_sourceLocation, _ body: () throws -> Void
    ) {
        #expect(sourceLocation: sourceLocation) {
            try body()
        } throws: { error in
            guard case CacheError.destination = error else { return false }
            return true
        }
    }

    @Test(arguments: [Area.documents, .applicationSupport], [ItemEncoding.lz4, .identity])
    func theFileGoesToItsFolder(area: Area, encoding: ItemEncoding) throws {
        let engine = try container.engine()
        try engine.store(prose(9000), "Doc.txt", in: Self.folder, of: area, encoding: .forced(encoding))
        let items = try engine.items()
        #expect(items.map(\.destination?.folder) == [Self.folder])
        #expect(items.map(\.destination?.area) == [area])

        let opened = try #require(try engine.open("Doc.txt").value)
        #expect(opened.folder == Self.folder)
        #expect(opened.path.string == top(area).appending(path: "Podcasts/Daily/Doc.txt").path)
        #expect(opened.location.relative.string.hasSuffix("Podcasts/Daily/Doc.txt"))
        #expect(try Data(contentsOf: opened.url) == prose(9000))
        #expect(try container.files(below: top(area)) == ["Podcasts/Daily/Doc.txt"])

        let next = try container.engine()
        #expect(try next.open("Doc.txt").value?.path == opened.path)
        #expect(try next.contains("Doc.txt"))
        #expect(try next.content("Doc.txt") == prose(9000))
        guard case .hit(.promoted(let file)) = try next.status(of: "Doc.txt") else {
            Issue.record("not there")
            return
        }
        #expect(file.path == opened.path)
    }

    @Test func theCatalogIsMadeAnewWithTheFolders() throws {
        let engine = try container.engine()
        try engine.store(prose(9000), "Doc.txt", in: Self.folder)
        try engine.close()
        try FileManager.default.removeItem(at: container.catalog)
        #expect(try container.engine().items().map(\.destination?.folder) == [Self.folder])
    }

    @Test func whatWasAskedForGoesToItsFolder() throws {
        let engine = try container.engine()
        try engine.store(prose(9000), "Doc.txt", in: Self.folder, intent: .userRequested)
        #expect(try container.files(below: container.documents) == ["Podcasts/Daily/Doc.txt"])
        #expect(try engine.open("Doc.txt").value?.isFirstOpen == false)
    }

    /// The folder may be moved while an item is downloaded: the ledger's place counts.
    @Test func aFolderThatIsMovedMeanwhileIsMadeAgain() throws {
        let engine = try container.engine()
        var metadata = ItemMetadata(key: "Doc.txt", destination: .documents("Doc.txt", in: Self.folder))
        metadata.intent = .userRequested
        guard
            case .begun(let store) = try engine.beginStore(metadata, encoding: .automatic, expectedLength: 9)
        else { Issue.record("refused"); return }
        try FileManager.default.moveItem(
            at: container.documents.appending(path: "Podcasts"),
            to: container.documents.appending(path: "Casts"))
        _ = try Data("123456789".utf8).withBytes { bytes throws(CacheError) in
            try store.commit(appending: bytes)
        }
        #expect(try container.files(below: container.documents) == ["Podcasts/Daily/Doc.txt"])
        #expect(try engine.open("Doc.txt").value != nil)
    }

    @Test func namesAreTakenInTheirFolderOnly() throws {
        let engine = try container.engine()
        for (key, folder) in [("a", nil), ("b", "Podcasts"), ("c", "Podcasts"), ("d", "Podcasts/Daily")]
            as [(ItemKey, FolderPath?)]
        {
            let destination = Destination.documents("Doc.txt", in: folder)
            _ = try prose(500, seed: key.hash.low).withBytes { bytes throws(CacheError) in
                try engine.store(
                    bytes, as: ItemMetadata(key: key, destination: destination), encoding: .automatic)
            }
            _ = try engine.open(key)
        }
        #expect(
            try container.files(below: container.documents) == [
                "Doc.txt", "Podcasts/Daily/Doc.txt", "Podcasts/Doc (2).txt", "Podcasts/Doc.txt",
            ])
    }

    enum Obstacle: CaseIterable {
        case link, danglingLink, file
    }

    @Test(arguments: ["Podcasts", "Podcasts/Daily"], Obstacle.allCases)
    func whatIsNoFolderIsNotFollowedAndTheItemStays(place: String, obstacle: Obstacle) throws {
        let outside = container.root.appending(path: "outside")
        try FileManager.default.createDirectory(
            at: outside.appending(path: "Daily"), withIntermediateDirectories: true)
        let url = container.documents.appending(path: place)
        try FileManager.default.createDirectory(
            at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
        switch obstacle {
        case .link: try FileManager.default.createSymbolicLink(at: url, withDestinationURL: outside)
        case .danglingLink:
            try FileManager.default.createSymbolicLink(
                at: url, withDestinationURL: container.root.appending(path: "nowhere"))
        case .file: try Data("mine".utf8).write(to: url)
        }
        let engine = try container.engine()
        for (key, encoding) in [("lz4", .lz4), ("identity", .identity)] as [(ItemKey, ItemEncoding)] {
            try engine.store(prose(9000), key, in: Self.folder, encoding: .forced(encoding))
            expectDestinationError { _ = try engine.open(key) }
            #expect(try engine.content(key) == prose(9000))
            #expect(try engine.ledger.entry(for: key) == nil)
        }
        expectDestinationError {
            try engine.store(prose(9000), "asked for", in: Self.folder, intent: .userRequested)
        }
        #expect(try container.files(below: outside).isEmpty)
        #expect(!FileManager.default.fileExists(atPath: container.root.appending(path: "nowhere").path))
        if obstacle == .file { #expect(try Data(contentsOf: url) == Data("mine".utf8)) }

        // When it is out of the way, the item is handed over.
        try FileManager.default.removeItem(at: url)
        #expect(try engine.open("lz4").value?.isFirstOpen == true)
    }

    @Test func documentsIsNotMadeForALook() throws {
        let engine = try container.engine()
        try engine.store(prose(9000), "Doc.txt")
        let opened = try #require(try engine.open("Doc.txt").value)
        try FileManager.default.removeItem(at: container.documents)
        #expect(try !engine.contains("Doc.txt"))
        guard case .miss = try engine.status(of: "Doc.txt") else { Issue.record("a hit"); return }
        #expect(throws: CacheError.movedOrDeleted(key: "Doc.txt", opened.path)) { try engine.open("Doc.txt") }
        #expect(!FileManager.default.fileExists(atPath: container.documents.path))
    }

    @Test func aFolderThatItsUserTookAwayIsNotMadeAgainForALook() throws {
        let engine = try container.engine()
        try engine.store(prose(9000), "Doc.txt", in: Self.folder)
        let opened = try #require(try engine.open("Doc.txt").value)
        let podcasts = container.documents.appending(path: "Podcasts")
        let outside = container.root.appending(path: "outside")
        try FileManager.default.moveItem(at: podcasts, to: outside)
        for isLinked in [false, true] {
            // A link to where it is now is not followed: that may be anybody's.
            if isLinked {
                try FileManager.default.createSymbolicLink(at: podcasts, withDestinationURL: outside)
            }
            #expect(throws: CacheError.movedOrDeleted(key: "Doc.txt", opened.path)) {
                try engine.open("Doc.txt")
            }
            #expect(try !engine.contains("Doc.txt"))
            #expect(try engine.content("Doc.txt") == nil)
            guard case .miss = try engine.status(of: "Doc.txt") else { Issue.record("a hit"); return }
            #expect(FileManager.default.fileExists(atPath: podcasts.path) == isLinked)
        }
        try FileManager.default.removeItem(at: podcasts)
        try engine.store(prose(6000), "Doc.txt", in: Self.folder)
        #expect(try Data(contentsOf: #require(try engine.open("Doc.txt").value).url) == prose(6000))
        #expect(try Data(contentsOf: outside.appending(path: "Daily/Doc.txt")) == prose(9000))
    }

    /// A folder that is there was perhaps made by a process that died before it was flushed.
    @Test func theFoldersAreDurableBeforeTheIntent() throws {
        try FileManager.default.createDirectory(
            at: container.documents.appending(path: "Podcasts/Daily"), withIntermediateDirectories: true)
        let fileSystem = InterceptingFileSystem()
        let engine = try container.engine(fileSystem: fileSystem)
        try engine.store(prose(9000), "Doc.txt", in: Self.folder)
        for name in [container.documents.path, "Podcasts"] {
            fileSystem.intercept { operation throws(FileSystemError) in
                if operation.kind == .synchronize, operation.name == name {
                    throw FileSystemError("fsync", errno: .ioError)
                }
            }
            expectDestinationError { _ = try engine.open("Doc.txt") }
            #expect(try engine.ledger.entry(for: "Doc.txt") == nil, "\(name)")
        }
        fileSystem.intercept { _ in }
        #expect(try engine.open("Doc.txt").value != nil)
    }

    /// Another process may make the folder anew, and die before it flushes.
    @Test func theNameOfAFolderIsFlushedOnceAndThatOfAnotherOneAgain() throws {
        let fileSystem = InterceptingFileSystem()
        let engine = try container.engine(fileSystem: fileSystem)
        let log = OperationLog()
        let documents = container.documents.path
        fileSystem.intercept { operation in
            if operation.kind == .synchronize, operation.name == documents { log.add(operation) }
        }
        for key in ["a", "b", "c"] as [ItemKey] { try engine.store(prose(900), key, in: "Podcasts") }
        _ = try engine.open("a")
        let count = log.operations.count
        #expect(count > 0)
        _ = try engine.open("b")
        #expect(log.operations.count == count)
        let folder = container.documents.appending(path: "Podcasts")
        try FileManager.default.moveItem(at: folder, to: container.documents.appending(path: "Old"))
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
        _ = try engine.open("c")
        #expect(log.operations.count == count + 1)
    }

    @Test(arguments: [ItemEncoding.lz4, .identity])
    func whateverTheStepTheNextOpenFindsOneWholeFile(encoding: ItemEncoding) throws {
        for steps in TestRun.numbers(every: 6) {
            var hasSucceeded = false
            let container = try TemporaryContainer()
            let fileSystem = InterceptingFileSystem()
            let dying = try container.engine(fileSystem: fileSystem)
            try dying.store(prose(9000), "Doc.txt", in: Self.folder, encoding: .forced(encoding))
            try dying.flush()
            let log = OperationLog()
            fileSystem.intercept { operation throws(FileSystemError) in
                guard operation.kind.isChange else { return }
                if log.operations.count >= steps { throw FileSystemError("\(operation)", errno: .ioError) }
                log.add(operation)
            }
            do {
                hasSucceeded = try dying.open("Doc.txt").value != nil
            } catch {
                #expect("\(error)".isEmpty == false)
            }
            let next = try container.engine()
            let opened = try #require(try next.open("Doc.txt").value, "lost at step \(steps)")
            #expect(try Data(contentsOf: opened.url) == prose(9000), "step \(steps)")
            #expect(
                try container.files(below: container.documents) == ["Podcasts/Daily/Doc.txt"], "step \(steps)"
            )
            if hasSucceeded { return #expect(steps > 8) }
        }
    }
}

/// Folders that are mount points.
@Suite(.enabled(if: MountedFolder.isPossible, "Mounting a folder needs root on Linux."))
struct MountedFolderTests {
    private static let staging = ".PrefetchCache-staging"
    private let container: TemporaryContainer

    init() throws {
        container = try TemporaryContainer()
    }

    @Test(arguments: MountedFolder.Kind.allCases, ["", "Podcasts", "Podcasts/Daily"])
    func theStagingIsOnTheVolumeOfTheFolder(kind: MountedFolder.Kind, place: String) throws {
        let url = container.documents.appending(path: place)
        let mounted = try MountedFolder(kind, at: url)
        try withExtendedLifetime(mounted) {
            let engine = try container.engine()
            for (key, encoding) in [("lz4", .lz4), ("identity", .identity)] as [(ItemKey, ItemEncoding)] {
                try engine.store(
                    prose(9000, seed: key.hash.low), key, in: "Podcasts/Daily/Today",
                    encoding: .forced(encoding))
                let opened = try #require(try engine.open(key).value)
                #expect(try Data(contentsOf: opened.url) == prose(9000, seed: key.hash.low))
                #expect(opened.path.string.hasSuffix("Documents/Podcasts/Daily/Today/\(key)"))
            }
            try engine.store(noise(9000), "asked", in: "Podcasts/Daily/Today", intent: .userRequested)
            #expect(try engine.content("asked") == noise(9000))

            // One staging folder, in the outermost folder of that volume.
            let folders = try FileManager.default.subpathsOfDirectory(atPath: container.documents.path)
                .filter { $0.hasSuffix(Self.staging) && !$0.contains("origin of") }
            #expect(folders == [place.isEmpty ? Self.staging : "\(place)/\(Self.staging)"])
            #expect(try container.files(below: url.appending(path: Self.staging)).isEmpty)
        }
    }

    @Test(arguments: MountedFolder.Kind.allCases)
    func anInterruptedPromotionIsFoundAgain(kind: MountedFolder.Kind) throws {
        let mounted = try MountedFolder(kind, at: container.documents.appending(path: "Podcasts"))
        try withExtendedLifetime(mounted) {
            let fileSystem = InterceptingFileSystem()
            let dying = try container.engine(fileSystem: fileSystem)
            try dying.store(prose(9000), "Doc.txt", in: "Podcasts/Daily", intent: .opportunistic)
            fileSystem.intercept { operation throws(FileSystemError) in
                if operation.newName == "Doc.txt" { throw FileSystemError("rename", errno: .ioError) }
            }
            #expect(throws: CacheError.self) { try dying.open("Doc.txt") }
            #expect(try dying.remove("Doc.txt"))
            let opened = try #require(try container.engine().open("Doc.txt").value)
            #expect(try Data(contentsOf: opened.url) == prose(9000))
        }
    }

    /// Nobody knows of such a staging folder when the cache is opened.
    @Test(arguments: MountedFolder.Kind.allCases, [Intent.opportunistic, .userRequested])
    func whatADeadProcessLeftGoesWithTheNextPromotion(kind: MountedFolder.Kind, intent: Intent) throws {
        let podcasts = container.documents.appending(path: "Podcasts")
        let mounted = try MountedFolder(kind, at: podcasts)
        try withExtendedLifetime(mounted) {
            let engine = try container.engine()
            let metadata = ItemMetadata(
                key: "living", intent: .userRequested, destination: .documents("living", in: "Podcasts"))
            guard
                case .begun(let living) = try engine.beginStore(
                    metadata, encoding: .automatic, expectedLength: 9000)
            else { Issue.record("refused"); return }

            let staging = podcasts.appending(path: Self.staging)
            for key in ["dead", "Doc.txt"] as [ItemKey] {
                let name = CacheLayout.staged(key.hash, session: "0123456789abcdef", number: 1).string
                try prose(500).write(to: staging.appending(path: name))
            }
            try Data("mine".utf8).write(to: staging.appending(path: "not ours"))
            try engine.store(prose(9000), "Doc.txt", in: "Podcasts", intent: intent)
            #expect(try engine.open("Doc.txt").value != nil)
            // That of the living one is left, and what is not ours.
            let left = try container.files(below: staging)
            #expect(left.count == 2)
            #expect(left.contains("not ours"))
            _ = try noise(9000).withBytes { bytes throws(CacheError) in try living.commit(appending: bytes) }
            #expect(try engine.content("living") == noise(9000))
            #expect(try container.files(below: staging) == ["not ours"])
        }
    }

    /// Items and staging have one device number, and still nothing can be renamed from one to the other.
    @Test func anItemInAMountedFolderIsCopied() throws {
        let mounted = try MountedFolder(.bind, at: container.root.appending(path: "Library/Caches"))
        try withExtendedLifetime(mounted) {
            let engine = try container.engine()
            try engine.store(noise(9000), "film.mp4")
            let opened = try #require(try engine.open("film.mp4").value)
            #expect(try Data(contentsOf: opened.url) == noise(9000))
            #expect(try engine.items().isEmpty)
        }
    }
}
