import FileSystemTestSupport
import Foundation
import Testing

@testable import PrefetchCaching

/// Contract 1: the system may take the Caches area at any moment.
@Suite struct PurgeTests {
    private let container = TemporaryContainer.make()

    @Test func theCacheGoesOnAfterItsFolderWasRemoved() throws {
        let engine = try container.engine()
        try engine.store(prose(5000), "one")
        try engine.store(prose(5000), "two")
        let file = try #require(try engine.open("two").value)

        try container.caches.deletingLastPathComponent().remove()
        #expect(try engine.content("one") == nil)
        #expect(try engine.statistics().items == 0)
        #expect(try engine.open("two").value?.path == file.path)
        try engine.store(prose(700), "three")
        #expect(try engine.content("three") == prose(700))
        #expect(try engine.items().map(\.key.string) == ["three"])
        #expect(try engine.statistics().chargedBytes == container.chargedOnDisk())
    }

    @Test func anItemIsStoredWhenOnlyTheFolderOfTheItemsWasRemoved() throws {
        let engine = try container.engine()
        try engine.store(prose(5000), "one")
        try container.items.remove()
        #expect(try engine.store(prose(6000), "two").isStored)
        #expect(try engine.content("two") == prose(6000))
    }

    /// Between making a folder and opening it.
    @Test(arguments: ["PrefetchCache", "items", "incoming"])
    func aPurgeOfWhatWasJustMadeIsNoError(name: String) throws {
        let fileSystem = InterceptingFileSystem()
        let engine = try container.engine(fileSystem: fileSystem)
        try container.caches.remove()
        let caches = container.caches
        let purges = fileSystem.once(before: { $0.kind == .open && $0.name == name }) { try caches.remove() }
        #expect(try engine.store(prose(5000), "one").isStored)
        #expect(purges.value > 0)
        #expect(try engine.content("one") == prose(5000))
    }

    @Test func anotherProcessThatFilledANewFolderIsSeen() throws {
        let first = try container.engine()
        try first.store(prose(5000), "one")
        try container.caches.remove()
        let second = try container.engine()
        try second.store(prose(6000), "two")
        #expect(try first.content("two") == prose(6000))
    }

    @Test func whatWasGrantedInAFolderThatIsGoneIsNotSpentInTheNewOne() throws {
        let first = try container.engine()
        try first.configure(.fixed(.mebibytes(8))) { $0.largestItem = .mebibytes(8) }
        try first.begin("given up", expectedLength: 3 << 20).cancel()
        #expect(first.catalog.inMemory { $0.allowance.free } > 3 << 20)
        try container.caches.remove()

        let second = try container.engine()
        let store = try second.begin("under way", expectedLength: 6 << 20)
        #expect(try first.store(noise(2_900_000), "late").refusal?.reason == "overBudget")
        try store.append(mebibytes: 6)
        #expect(try container.chargedOnDisk() <= 8 << 20)
        try store.cancel()
        try second.maintain()
        #expect(try first.store(noise(2_900_000), "late").isStored)
        for engine in [first, second] { try engine.maintain() }
        try expectBooksLikeDisk(second, container)
    }

    @Test func aFreshStartAfterTheFolderWasRemovedCountsNothing() throws {
        do {
            let engine = try container.engine()
            try engine.store(prose(5000), "one")
            _ = try engine.open("one")
            try engine.close()
        }
        try container.caches.deletingLastPathComponent().remove()
        let engine = try container.engine()
        #expect(try engine.statistics().items == 0)
        #expect(try engine.open("one").value?.isFirstOpen == false)
    }
}
