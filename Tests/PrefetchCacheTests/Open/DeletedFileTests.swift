import FileSystemTestSupport
import Foundation
import PrefetchFileSystem
import SystemPackage
import Testing

@testable import PrefetchCaching

/// Files that the user wants gone.
@Suite struct DeletedFileTests {
    private let container = TemporaryContainer.make()
    private let engine: Engine

    init() throws { engine = try container.engine() }

    @Test(arguments: [ItemEncoding.lz4, .identity])
    func theFileIsGoneAndTheKeyIsLikeAnyOther(encoding: ItemEncoding) throws {
        try engine.store(prose(5000), "Doc.txt", encoding: .forced(encoding))
        _ = try engine.open("Doc.txt")
        #expect(try engine.deletePromotedFile("Doc.txt"))
        #expect(try container.files(below: container.documents).isEmpty)
        #expect(try engine.open("Doc.txt").miss == .absent)
        #expect(try !engine.deletePromotedFile("Doc.txt"))

        #expect(try engine.store(prose(6000), "Doc.txt").isStored)
        #expect(try engine.open("Doc.txt").value?.url == container.document("Doc.txt"))
    }

    /// Its user deletes the file of a key, or does so at the last moment, and an item of another key would get the name.
    @Test(arguments: [false, true], [false, true])
    func aNameLeadsToOneKey(isJoint: Bool, isAtLast: Bool) throws {
        let fileSystem = InterceptingFileSystem()
        let engine = try container.engine(fileSystem: fileSystem)
        func store(_ key: ItemKey, _ length: Int) throws {
            try engine.store(noise(length), as: ItemMetadata(key: key, destination: .documents("Doc.txt")))
        }
        try store("first", 5000)
        #expect(try engine.open("first").value?.url == container.document("Doc.txt"))
        let file = container.document("Doc.txt").path
        if isAtLast {
            fileSystem.intercept { if $0.kind == .rename { _ = unlink(file) } }
        } else {
            try FileManager.default.removeItem(atPath: file)
        }
        try store("second", 6000)
        try store("third", 7000)
        let opened =
            try isJoint ? engine.open(["second", "third"])[0].get().value : engine.open("second").value
        fileSystem.intercept { _ in }
        #expect(try opened.map { try Data(contentsOf: $0.url) } == noise(6000))
        #expect(opened?.url == container.document("Doc (2).txt"))
        #expect(throws: CacheError.self) { try engine.open("first") }

        try store("first", 8000)
        #expect(try engine.open("first").value?.url == container.document("Doc.txt"))
        #expect(try Data(contentsOf: container.document("Doc.txt")) == noise(8000))
        #expect(try Data(contentsOf: container.document("Doc (2).txt")) == noise(6000))
    }

    /// Forgotten, it no longer keeps its name.
    @Test func theNameOfADeletedFileIsFreeOnceItIsForgotten() throws {
        try engine.store(prose(5000), "Doc.txt")
        _ = try engine.open("Doc.txt")
        try container.document("Doc.txt").remove()
        #expect(try engine.forget("Doc.txt"))
        try engine.store(noise(6000), as: ItemMetadata(key: "other", destination: .documents("Doc.txt")))
        #expect(try engine.open("other").value?.url == container.document("Doc.txt"))
    }

    private func storeAndOpen(_ key: ItemKey, in folder: FolderPath, _ engine: Engine) throws -> PromotedFile?
    {
        let destination = Destination.documents(try FileName(key.string), in: folder)
        try engine.store(prose(5000), as: ItemMetadata(key: key, destination: destination))
        return try engine.open(key).value
    }

    /// Folders that the library made go with their last file. Those of the user stay.
    @Test func noEmptyFoldersAreLeft() throws {
        #expect(try storeAndOpen("one", in: "Shows/Season 1", engine) != nil)
        #expect(try storeAndOpen("two", in: "Shows/Season 2", engine) != nil)
        #expect(try engine.deletePromotedFile("one"))
        #expect(!container.document("Shows/Season 1").exists)
        #expect(container.document("Shows/Season 2/two").exists)
        #expect(try engine.deletePromotedFile("two"))
        #expect(!container.document("Shows").exists)
        #expect(container.documents.exists)

        try container.document("Mine").makeFolder()
        #expect(try storeAndOpen("three", in: "Mine/Made", engine) != nil)
        #expect(try engine.deletePromotedFile("three"))
        #expect(try FileManager.default.contentsOfDirectory(atPath: container.documents.path) == ["Mine"])
        #expect(try FileManager.default.contentsOfDirectory(atPath: container.document("Mine").path).isEmpty)
    }

    /// It looked empty when it was removed, and an item is about to be opened into it.
    @Test(arguments: [false, true])
    func aFolderThatIsRemovedBeforeAFileArrivesIsMadeAnew(isJoint: Bool) throws {
        let fileSystem = InterceptingFileSystem()
        let engine = try container.engine(fileSystem: fileSystem)
        let (folder, removals) = (container.document("Made"), CallCounter())
        fileSystem.intercept { operation throws(FileSystemError) in
            guard operation.kind == .rename, operation.newName == "one", removals.next() == 0 else { return }
            _ = rmdir(folder.path)
        }
        let destination = Destination.documents("one", in: "Made")
        for key in ["one", "other"] as [ItemKey] {
            try engine.store(prose(5000), as: ItemMetadata(key: key, destination: destination))
        }
        let opened = try isJoint ? engine.open(["one", "other"])[0].get() : engine.open("one")
        #expect(opened.value?.url == folder.appending(path: "one"))
        #expect(removals.value > 1)
    }

    enum Found: CaseIterable {
        case changed, nothing, folder
    }

    /// What its user has changed goes, and what is no file stays.
    @Test(arguments: Found.allCases) func whatIsInThePlaceOfTheFileIsLookedAt(found: Found) throws {
        try engine.store(prose(5000), "Doc.txt")
        _ = try engine.open("Doc.txt")
        let file = container.document("Doc.txt")
        try file.remove()
        switch found {
        case .changed: try file.place("mine")
        case .nothing: break
        case .folder: try file.makeFolder()
        }
        #expect(try engine.deletePromotedFile("Doc.txt") == (found == .changed))
        #expect(file.exists == (found == .folder))
        if found != .folder { #expect(try engine.ledger.entry(for: "Doc.txt") == nil) }
    }

    /// Between the look at the file and its removal, the user saves another one.
    @Test func aFileThatIsSavedMeanwhileStays() throws {
        let fileSystem = InterceptingFileSystem()
        let engine = try container.engine(fileSystem: fileSystem)
        try engine.store(prose(5000), "Doc.txt")
        let file = try #require(try engine.open("Doc.txt").value).url
        let draft = container.root.appending(path: "draft")
        try Data("mine".utf8).write(to: draft)
        // Recovery looks first, then the deletion, and then it looks again.
        fileSystem.once(before: { $0.kind == .attributes && $0.name == "Doc.txt" }, after: 2) {
            #expect(rename(draft.path, file.path) == 0)
        }
        #expect(try !engine.deletePromotedFile("Doc.txt"))
        fileSystem.intercept { _ in }
        #expect(try Data(contentsOf: file) == Data("mine".utf8))
    }

    @Test func aFileThatCannotBeDeletedIsRemembered() throws {
        let fileSystem = InterceptingFileSystem()
        let engine = try container.engine(fileSystem: fileSystem)
        try engine.store(prose(5000), "Doc.txt")
        _ = try engine.open("Doc.txt")
        // Moved aside, it is about to go.
        fileSystem.fail(.permissionDenied) { $0.kind == .unlink && $0.name.hasSuffix(".aside") }
        expectDestinationError(.permissionDenied) { try engine.deletePromotedFile("Doc.txt") }
        #expect(try engine.open("Doc.txt").value?.url == container.document("Doc.txt"))
    }
}
