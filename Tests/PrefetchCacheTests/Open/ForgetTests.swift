import FileSystemTestSupport
import Foundation
import PrefetchFileSystem
import SystemPackage
import Testing

@testable import PrefetchCaching

/// Forgetting a promotion, and storing a key again whose file is gone.
@Suite struct ForgetTests {
    private let container = TemporaryContainer.make()

    @Test func theFileStaysAndTheKeyIsLikeAnyOther() throws {
        let engine = try container.engine()
        try engine.store(prose(5000), "Doc.txt")
        _ = try engine.open("Doc.txt")
        #expect(try engine.forget("Doc.txt"))

        #expect(try Data(contentsOf: container.document("Doc.txt")) == prose(5000))
        #expect(try engine.open("Doc.txt").miss == .absent)
        #expect(try !engine.contains("Doc.txt"))
        #expect(try engine.status(of: "Doc.txt").miss == .absent)
        #expect(try engine.store(prose(6000), "Doc.txt").isStored)
        let opened = try #require(try engine.open("Doc.txt").value)
        #expect(opened.isFirstOpen)
        #expect(opened.path.lastComponent?.string == "Doc (2).txt")
        #expect(try Data(contentsOf: container.document("Doc.txt")) == prose(5000))
    }

    @Test func anotherProcessForgetsWithIt() throws {
        let engine = try container.engine()
        let other = try container.engine()
        try engine.store(prose(5000), "key")
        _ = try engine.open("key")
        #expect(try other.open("key").value?.isFirstOpen == false)
        #expect(try engine.forget("key"))
        #expect(try other.store(prose(5000), "key").isStored)
        // The same content: the file that is there is adopted.
        #expect(try other.open("key").value?.path.lastComponent?.string == "key")
        #expect(try container.files(below: container.documents) == ["key"])
    }

    @Test func whatWasNotOpenedIsNotForgotten() throws {
        let engine = try container.engine()
        try engine.store(prose(5000), "key")
        #expect(try !engine.forget("key"))
        #expect(try !engine.forget("unknown"))
        #expect(try engine.content("key") == prose(5000))
        // No ledger.
        #expect((try container.files(below: container.support)).allSatisfy { $0.hasPrefix("record.sqlite") })
    }

    @Test(arguments: [ItemEncoding.lz4, .identity])
    func anInterruptedPromotionIsCompletedFirst(encoding: ItemEncoding) throws {
        let fileSystem = InterceptingFileSystem()
        let dying = try container.engine(fileSystem: fileSystem)
        try dying.store(prose(9000), "Doc.txt", encoding: .forced(encoding))
        fileSystem.fail { $0.newName == "Doc.txt" }
        #expect(throws: CacheError.self) { try dying.open("Doc.txt") }
        #expect(try dying.ledger.entry(for: "Doc.txt")?.state == .intent)

        // As long as it cannot be completed it is refused, and nothing is lost.
        expectDestinationError { try dying.forget("Doc.txt") }
        #expect(try dying.ledger.entry(for: "Doc.txt")?.state == .intent)

        fileSystem.intercept { _ in }
        #expect(try dying.forget("Doc.txt"))
        #expect(try Data(contentsOf: container.document("Doc.txt")) == prose(9000))
        #expect(try dying.ledger.entry(for: "Doc.txt") == nil)
        #expect(try container.staged() == [])
    }

    @Test func itWaitsForAPromotionUnderWay() throws {
        let fileSystem = InterceptingFileSystem()
        let engine = try container.engine(fileSystem: fileSystem)
        let group = DispatchGroup()
        let waitsOrIsDone = DispatchSemaphore(value: 0)
        let other = try container.engine(
            fileSystem: InterceptingFileSystem { operation in
                if operation.kind == .lock { waitsOrIsDone.signal() }
            })
        try engine.store(prose(9000), "Doc.txt")
        fileSystem.intercept { operation in
            guard operation.kind == .rename, operation.newName == "Doc.txt" else { return }
            // The intent is there, and its file is about to get its name.
            group.enter()
            Thread.detachNewThread {
                do {
                    let isForgotten = try other.forget("Doc.txt")
                    #expect(isForgotten)
                } catch {
                    Issue.record(error)
                }
                waitsOrIsDone.signal()
                group.leave()
            }
            waitsOrIsDone.wait()
            do {
                #expect(try other.ledger.entry(for: "Doc.txt")?.state == .intent)
            } catch {
                Issue.record(error)
            }
        }
        let opened = try #require(try engine.open("Doc.txt").value)
        group.wait()
        #expect(try Data(contentsOf: opened.url) == prose(9000))
        #expect(try other.ledger.entry(for: "Doc.txt") == nil)
        #expect(try container.files(below: container.documents) == ["Doc.txt"])
    }

    @Test(arguments: [Intent.opportunistic, .userRequested], [false, true])
    func aKeyWhoseFileIsGoneMayBeStoredAgain(intent: Intent, isMoved: Bool) throws {
        let engine = try container.engine()
        try engine.store(prose(5000), "Doc.txt")
        let opened = try #require(try engine.open("Doc.txt").value)
        if isMoved {
            try opened.url.move(to: container.document("Mine.txt"))
        } else {
            try opened.url.remove()
        }
        #expect(throws: CacheError.movedOrDeleted(key: "Doc.txt", opened.path)) {
            try engine.open("Doc.txt")
        }

        let outcome = try engine.store(prose(6000), as: ItemMetadata("Doc.txt", intent: intent))
        switch (outcome, intent) {
        case (.stored, .opportunistic), (.delivered, .userRequested): break
        default: Issue.record("\(outcome)")
        }
        let again = try #require(try engine.open("Doc.txt").value)
        #expect(try Data(contentsOf: again.url) == prose(6000))
        if isMoved { #expect(try Data(contentsOf: container.document("Mine.txt")) == prose(5000)) }
        let expected = isMoved ? ["Doc.txt", "Mine.txt"] : ["Doc.txt"]
        #expect(try container.files(below: container.documents) == expected)
    }

    /// What is asked for is not written over what its user made of an earlier file of the same key.
    @Test func aChangedFileIsReturnedAndNeverOverwritten() throws {
        let engine = try container.engine()
        try engine.store(prose(5000), "Doc.txt")
        let opened = try #require(try engine.open("Doc.txt").value)
        try Data("edited".utf8).write(to: opened.url)

        let outcome = try engine.store(prose(6000), as: ItemMetadata("Doc.txt", intent: .userRequested))
        #expect(outcome == .refused(.alreadyPromoted))
        #expect(try engine.open("Doc.txt").value?.path == opened.path)
        #expect(try Data(contentsOf: opened.url) == Data("edited".utf8))

        #expect(try engine.forget("Doc.txt"))
        try engine.store(prose(7000), "Doc.txt")
        #expect(try engine.open("Doc.txt").value?.path.lastComponent?.string == "Doc (2).txt")
        #expect(try Data(contentsOf: opened.url) == Data("edited".utf8))
    }
}
