import FileSystemTestSupport
import Foundation
import PrefetchFileSystem
import Synchronization
import SystemPackage
import Testing

@testable import PrefetchCaching
@testable import PrefetchStorageAreas

/// Files that several keys have, or nearly.
@Suite struct SharedFileTests {
    private let container = TemporaryContainer.make()
    private let fileSystem = InterceptingFileSystem()
    private let engine: Engine

    init() throws { engine = try container.engine(fileSystem: fileSystem) }

    private func store(_ key: ItemKey, _ content: Data, _ name: FileName = "Film", in folder: String? = nil)
        throws
    {
        let metadata = ItemMetadata(
            key: key, destination: .documents(name, in: try folder.map { try FolderPath($0) }))
        try engine.store(content, as: metadata)
    }

    @discardableResult
    private func open(_ key: ItemKey, _ content: Data) throws -> URL {
        try store(key, content)
        return try #require(try engine.open(key).value).url
    }

    private func entry(_ key: ItemKey) throws -> LedgerEntry {
        try #require(try engine.ledger.entry(for: key))
    }

    /// The intent of another key for the place of an entry.
    private func intent(_ key: ItemKey, beside entry: LedgerEntry) throws -> LedgerEntry {
        var intent = entry
        // The file is not the one that was staged for it.
        (intent.key, intent.state, intent.inode) = (key, .intent, 1)
        intent.stagedName = engine.files.nextStagedName(key)
        try engine.ledger.put(intent, replacing: nil)
        return intent
    }

    /// Another open has entered that it will have the place, and will find it taken.
    @Test(arguments: [false, true])
    func whatIsDeletedIsNotLeftToAnOpenThatHasContentOfItsOwn(isStaged: Bool) throws {
        let file = try open("one", prose(5000))
        if !isStaged { try store("two", prose(5000)) }
        let intent = try intent("two", beside: entry("one"))
        if isStaged {
            let staging = container.support.appending(path: CacheLayout.staging.string)
            try prose(5000).write(to: staging.appending(path: intent.stagedName))
        }
        #expect(try engine.deletePromotedFile("one"))
        #expect(!file.exists)
    }

    /// Its process has died, and what has the file is being deleted, replaced or purged.
    @Test func recoveryWaitsForWhoeverIsAtTheFile() throws {
        let file = try open("one", prose(5000))
        let other = try container.engine()
        let intent = try intent("two", beside: entry("one"))
        try other.promoter.locks.hold(ItemKey("one").hash) { () throws(CacheError) in
            let error = #expect(throws: CacheError.self) { try engine.open("two") }
            #expect(error?.isBusy == true)
            #expect(try engine.ledger.entry(for: "two") == intent)
        }
        #expect(try engine.open("two").value?.url == file)
        #expect(try entry("two").origin == .adopted)
        #expect(try !engine.deletePromotedFile("one"))
        #expect(try Data(contentsOf: file) == prose(5000))
        try other.close()
    }

    /// The user has signed out since.
    @Test func whatIsInAnAreaThatIsGoneKeepsNothingFromBeingOpened() throws {
        let file = try open("one", prose(5000))
        var cloud = try entry("one")
        cloud.area = .iCloudDrive
        cloud.key = "cloud"
        cloud.stagedName = engine.files.nextStagedName("cloud")
        try engine.ledger.put(cloud, replacing: nil)
        try store("two", prose(5000))
        let areas = try container.areas()
        let signedOut = try container.engine(
            areas: StorageAreas(
                documents: areas.documents, applicationSupport: areas.applicationSupport,
                caches: areas.caches, temporary: areas.temporary, iCloudDrive: nil))
        #expect(try signedOut.open("two").value?.url == file)
        #expect(try !signedOut.deletePromotedFile("one"))
        try signedOut.close()
    }

    /// Its user has deleted the older version.
    @Test func aFileThatIsBeingReplacedKeepsItsName() throws {
        let file = try open("one", prose(5000))
        let old = try entry("one")
        var (new, pending) = (old, old)
        new.stagedName = engine.files.nextStagedName("one")
        pending.successor = Successor(new)
        try engine.ledger.put(pending, replacing: old)
        try file.remove()
        #expect(try open("two", prose(6000)).lastPathComponent == "Film (2)")
        #expect(throws: CacheError.self) { try engine.open("one") }
    }

    @Test func aPartOfABundleIsNotAdopted() throws {
        try engine.store(BundleTests.content, as: BundleTests.metadata("Guide"))
        let bundle = try #require(try engine.open("Guide").value)
        for (index, part) in BundleTests.parts.enumerated() {
            let components = part.path.string.split(separator: "/").map(String.init)
            let key = try ItemKey("part \(index)")
            let folder = (["Guide"] + components.dropLast()).joined(separator: "/")
            try store(
                key, BundleTests.files[index].value, FileName(components[components.count - 1]), in: folder)
            let opened = try #require(try engine.open(key).value).url
            #expect(opened != bundle.url(of: part))
            #expect(try Data(contentsOf: opened) == BundleTests.files[index].value)
            #expect(try engine.deletePromotedFile(key))
            #expect(try Data(contentsOf: bundle.url(of: part)) == BundleTests.files[index].value)
        }
    }

    @Test(arguments: [
        ("Guide", true), ("gUIDE/images", true), ("Guides", false), ("", false), ("A/Guide", false),
    ])
    func aBundleIsFoundByWhatIsInIt(_ folder: String, isInside: Bool) throws {
        try engine.store(BundleTests.content, as: BundleTests.metadata("Guide"))
        _ = try engine.open("Guide")
        try open("one", prose(5000))
        var entry = try entry("one")
        entry.folder = folder.isEmpty ? nil : try FolderPath(folder)
        let bundle = try #require(try engine.ledger.entry(for: "Guide"))
        #expect(entry.isInside(bundle) == isInside)
        #expect(try engine.ledger.others(sharing: entry) == (isInside ? [bundle] : []))
    }

    /// It is saved again and again while it is compared.
    @Test func aFileThatNeverRestsIsAnother() throws {
        let file = try open("one", prose(5000))
        try store("two", prose(5000))
        let times = Atomic<Int>(0)
        fileSystem.intercept { operation in
            guard operation.kind == .read, operation.name == "Film" else { return }
            do {
                let time = times.wrappingAdd(1, ordering: .relaxed).newValue
                try file.setModified(Double(time))
            } catch { Issue.record(error) }
        }
        let opened = try #require(try engine.open("two").value).url
        #expect(opened.lastPathComponent == "Film (2)" && times.load(ordering: .relaxed) > 2)
    }
}
