import Foundation
import Testing

@testable import PrefetchCaching

/// Items that are only ever read, such as map tiles and thumbnails.
@Suite struct NoDestinationTests {
    private let container = TemporaryContainer.make()
    private let metadata = ItemMetadata(key: "tile", source: "maps", attributes: [1, 2])

    private func store(_ content: Data, in engine: Engine) throws {
        let outcome = try engine.store(content, as: metadata)
        guard case .stored = outcome else { Issue.record("\(outcome)"); return }
    }

    @Test(arguments: [0, 5000, 3_000_000])
    func anItemWithoutADestinationIsRead(length: Int) throws {
        let engine = try container.engine()
        try store(prose(length), in: engine)
        #expect(try engine.content("tile") == prose(length))
        #expect(try engine.description(of: "tile")?.metadata.destination == nil)
        guard case .hit(.cached(let item)) = try engine.status(of: "tile") else {
            Issue.record("a miss"); return
        }
        #expect(item.destination == nil && item.source == "maps")
        try engine.close()

        // Also by the process that finds no catalog.
        try container.catalog.remove()
        let next = try container.engine()
        #expect(try next.items().map(\.destination) == [nil])
        #expect(try next.content("tile") == prose(length))
    }

    @Test func itIsNeverOpened() throws {
        let engine = try container.engine()
        try store(prose(5000), in: engine)
        #expect(throws: CacheError.noDestination("tile")) { try engine.open("tile") }
        try engine.store(prose(5000), "Doc.txt")
        let results = engine.open(["tile", "Doc.txt"], for: .never)
        #expect(throws: CacheError.noDestination("tile")) { try results[0].get() }
        #expect(try results[1].get().value?.isFirstOpen == true)
        #expect(try engine.content("tile") == prose(5000))
        #expect(try container.files(below: container.documents) == ["Doc.txt"])
    }

    @Test func whatTheUserAskedForNeedsADestination() throws {
        let engine = try container.engine()
        var metadata = metadata
        metadata.intent = .userRequested
        let requested = metadata
        #expect(throws: CacheError.item(.destinationMissing)) {
            try engine.store(prose(10), as: requested)
        }
    }

    @Test func aPartialOfItIsResumed() throws {
        let engine = try container.engine()
        let store = try engine.begin(metadata, keepingPartial: true)
        try store.append(noise(2_500_000))
        #expect(try store.suspend()?.metadata.destination == nil)
        #expect(try engine.partials().map(\.destination) == [nil])
    }
}
