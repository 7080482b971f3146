import FileSystemTestSupport
import Foundation
import PrefetchFileSystem
import SystemPackage
import Testing

@testable import PrefetchCaching

/// Destinations in folders below an area.
@Suite struct FolderTests {
    private static let folder: FolderPath = "Podcasts/Daily"
    private let container = TemporaryContainer.make()

    @Test(arguments: [Area.documents, .applicationSupport, .iCloudDrive], [ItemEncoding.lz4, .identity])
    func theFileGoesToItsFolder(area: Area, encoding: ItemEncoding) throws {
        let watch = CoordinationWatch(root: FilePath(container.iCloudDrive.path))
        let engine = try area == .iCloudDrive ? container.engine(watch) : container.engine()
        try engine.store(prose(9000), "Doc.txt", in: Self.folder, of: area, encoding: .forced(encoding))
        let items = try engine.items()
        #expect(items.map(\.destination?.folder) == [Self.folder])
        #expect(items.map(\.destination?.area) == [area])

        let opened = try #require(try engine.open("Doc.txt").value)
        #expect(opened.folder == Self.folder)
        let expected = container.destinations(in: area).appending(path: "Podcasts/Daily/Doc.txt")
        #expect(opened.path.string == expected.path)
        #expect(opened.location.relative.string.hasSuffix("Podcasts/Daily/Doc.txt"))
        #expect(try Data(contentsOf: opened.url) == prose(9000))
        #expect(try container.files(below: container.destinations(in: area)) == ["Podcasts/Daily/Doc.txt"])

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

    /// The folder may be moved while an item is downloaded: the ledger's place counts.
    @Test func aFolderThatIsMovedMeanwhileIsMadeAgain() throws {
        let engine = try container.engine()
        var metadata = ItemMetadata(key: "Doc.txt", destination: .documents("Doc.txt", in: Self.folder))
        metadata.intent = .userRequested
        let store = try engine.begin(metadata, expectedLength: 9)
        try container.document("Podcasts").move(to: container.document("Casts"))
        try store.commit(appending: Data("123456789".utf8))
        #expect(try container.files(below: container.documents) == ["Podcasts/Daily/Doc.txt"])
        #expect(try engine.open("Doc.txt").value != nil)
    }

    @Test func namesAreTakenInTheirFolderOnly() throws {
        let engine = try container.engine()
        for (key, folder) in [("a", nil), ("b", "Podcasts"), ("c", "Podcasts"), ("d", "Podcasts/Daily")]
            as [(ItemKey, FolderPath?)]
        {
            let destination = Destination.documents("Doc.txt", in: folder)
            try engine.store(
                prose(500, seed: key.hash.low), as: ItemMetadata(key: key, destination: destination))
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
        try outside.appending(path: "Daily").makeFolder()
        let url = container.documents.appending(path: place)
        try url.deletingLastPathComponent().makeFolder()
        switch obstacle {
        case .link: try url.makeLink(to: outside)
        case .danglingLink:
            try url.makeLink(to: container.root.appending(path: "nowhere"))
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
        #expect(!container.root.appending(path: "nowhere").exists)
        if obstacle == .file { #expect(try Data(contentsOf: url) == Data("mine".utf8)) }

        // When it is out of the way, the item is handed over.
        try url.remove()
        #expect(try engine.open("lz4").value?.isFirstOpen == true)
    }

    @Test func aFolderThatItsUserTookAwayIsNotMadeAgainForALook() throws {
        let engine = try container.engine()
        try engine.store(prose(9000), "Doc.txt", in: Self.folder)
        let opened = try #require(try engine.open("Doc.txt").value)
        let podcasts = container.document("Podcasts")
        let outside = container.root.appending(path: "outside")
        try podcasts.move(to: outside)
        for isLinked in [false, true] {
            // A link to where it is now is not followed: that may be anybody's.
            if isLinked { try podcasts.makeLink(to: outside) }
            #expect(throws: CacheError.movedOrDeleted(key: "Doc.txt", opened.path)) {
                try engine.open("Doc.txt")
            }
            #expect(try !engine.contains("Doc.txt"))
            #expect(try engine.content("Doc.txt") == nil)
            #expect(try engine.status(of: "Doc.txt").value == nil)
            #expect(podcasts.exists == isLinked)
        }
        try podcasts.remove()
        try engine.store(prose(6000), "Doc.txt", in: Self.folder)
        #expect(try Data(contentsOf: #require(try engine.open("Doc.txt").value).url) == prose(6000))
        #expect(try Data(contentsOf: outside.appending(path: "Daily/Doc.txt")) == prose(9000))
    }

    /// A folder that is there was perhaps made by a process that died before it was flushed.
    @Test func theFoldersAreDurableBeforeTheIntent() throws {
        try container.document("Podcasts/Daily").makeFolder()
        let fileSystem = InterceptingFileSystem()
        let engine = try container.engine(fileSystem: fileSystem)
        try engine.store(prose(9000), "Doc.txt", in: Self.folder)
        for name in [container.documents.path, "Podcasts"] {
            fileSystem.fail { $0.kind == .synchronize && $0.name == name }
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
        let folder = container.document("Podcasts")
        try folder.move(to: container.document("Old"))
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
        _ = try engine.open("c")
        #expect(log.operations.count == count + 1)
    }
}

/// Folders that are mount points.
@Suite(.enabled(if: MountedFolder.isPossible, "Mounting a folder needs root on Linux."))
struct MountedFolderTests {
    private static let staging = ".PrefetchCache-staging"
    private let container = TemporaryContainer.make()

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
        let mounted = try MountedFolder(kind, at: container.document("Podcasts"))
        try withExtendedLifetime(mounted) {
            let fileSystem = InterceptingFileSystem()
            let dying = try container.engine(fileSystem: fileSystem)
            try dying.store(prose(9000), "Doc.txt", in: "Podcasts/Daily", intent: .opportunistic)
            fileSystem.fail { $0.newName == "Doc.txt" }
            #expect(throws: CacheError.self) { try dying.open("Doc.txt") }
            #expect(try dying.remove("Doc.txt"))
            let opened = try #require(try container.engine().open("Doc.txt").value)
            #expect(try Data(contentsOf: opened.url) == prose(9000))
        }
    }

    /// Nobody knows of such a staging folder when the cache is opened.
    @Test(arguments: MountedFolder.Kind.allCases, [Intent.opportunistic, .userRequested])
    func whatADeadProcessLeftGoesWithTheNextPromotion(kind: MountedFolder.Kind, intent: Intent) throws {
        let podcasts = container.document("Podcasts")
        let mounted = try MountedFolder(kind, at: podcasts)
        try withExtendedLifetime(mounted) {
            let engine = try container.engine()
            let metadata = ItemMetadata(
                key: "living", intent: .userRequested, destination: .documents("living", in: "Podcasts"))
            let living = try engine.begin(metadata, expectedLength: 9000)

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
            try living.commit(appending: noise(9000))
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
