import Foundation
import PrefetchFileSystem
import SystemPackage
import Testing

@testable import PrefetchCaching

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// What lies in the place of an item or of a promoted file and is no file of ours: never followed,
/// never waited for, never touched.
@Suite struct ForeignObjectTests {
    private let container = TemporaryContainer.make()
    private let engine: Engine
    private let key: ItemKey = "key"

    init() throws {
        engine = try container.engine()
        try engine.store(prose(5000), key)
    }

    enum Object: CaseIterable {
        case link, folder, pipe
    }

    private func put(_ object: Object, at place: URL) throws {
        try place.remove()
        switch object {
        case .link:
            let secret = container.root.appending(path: "secret")
            try Data("secret".utf8).write(to: secret)
            try place.makeLink(to: secret)
        case .folder: try FileManager.default.createDirectory(at: place, withIntermediateDirectories: false)
        case .pipe: #expect(mkfifo(place.path, 0o600) == 0)
        }
    }

    @Test(arguments: Object.allCases)
    func inThePlaceOfAnItemItIsAMiss(object: Object) throws {
        try put(object, at: container.item(key))
        #expect(try engine.content(key) == nil)
        #expect(try engine.open(key).value == nil)
        #expect(try container.files(below: container.documents).isEmpty)
    }

    @Test(arguments: Object.allCases)
    func inThePlaceOfAnItemItIsNotReplaced(object: Object) throws {
        try put(object, at: container.item(key))
        let before = try #require(try container.item(key).attributes)
        #expect(throws: CacheError.self) { try engine.store(prose(4000), key) }
        let after = try #require(try container.item(key).attributes)
        #expect(after.kind == before.kind)
        #expect(after.identity == before.identity)
        #expect(try container.partials() == [])
        try container.item(key).remove()
        try engine.store(prose(4000), key)
        #expect(try engine.content(key) == prose(4000))
    }

    @Test(arguments: Object.allCases)
    func inThePlaceOfAnItemItIsNotRemoved(object: Object) throws {
        try engine.flush()
        try put(object, at: container.item(key))
        let kind = try container.item(key).attributes?.kind
        #expect(try !engine.remove(key))
        #expect(try container.item(key).attributes?.kind == kind)
        _ = try container.engine().evict(.max)
        #expect(try container.item(key).attributes?.kind == kind)
    }

    @Test func anItemThatIsGoneLosesItsRowWhenItIsToBeRemoved() throws {
        try engine.flush()
        try container.item(key).remove()
        #expect(try !engine.remove(key))
        try engine.flush()
        #expect(try engine.items().isEmpty)
    }

    @Test(arguments: Object.allCases)
    func inThePlaceOfAPromotedFileItIsNotRead(object: Object) throws {
        let opened = try #require(try engine.open(key).value)
        try put(object, at: opened.url)
        #expect(try engine.content(key) == nil)
        #expect(throws: CacheError.movedOrDeleted(key: key, opened.path)) { try engine.open(key) }
    }

    @Test(arguments: Object.allCases)
    func aNewCatalogPassesItBy(object: Object) throws {
        try engine.store(prose(300), "other")
        try put(object, at: container.item(key))
        try engine.close()
        try container.catalog.remove()
        #expect(try container.engine().items().map(\.key.string) == ["other"])
    }
}
