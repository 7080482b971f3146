import Foundation
import Testing

@testable import PrefetchCaching

/// What the cache says of its keys is what a call would find, whoever changed it.
@Suite struct StatusTests {
    private let container = TemporaryContainer.make()
    private let engine: Engine
    private let other: Engine

    init() throws {
        engine = try container.engine()
        other = try container.engine()
        for number in 0..<3 { try engine.store(prose(1000), ItemKey(number: number)) }
        try engine.flush()
    }

    @Test func whatALivingProcessHasOpenedIsNotCached() throws {
        let key = try ItemKey(number: 1)
        let opened = try #require(try other.open(key).value)
        guard case .promoted(let file)? = try engine.status(of: key).value else {
            Issue.record("not promoted")
            return
        }
        #expect(file.path == opened.path)
        #expect(try engine.items().map(\.key.string) == ["item-0", "item-2"])
    }

    @Test func whatALivingProcessHasRemovedIsNotCached() throws {
        let key = try ItemKey(number: 1)
        #expect(try other.remove(key))
        #expect(try engine.status(of: key).value == nil)
    }

    @Test func whatWasOpenedAndStoredAgainIsCached() throws {
        let key = try ItemKey(number: 1)
        _ = try other.open(key)
        #expect(try other.forget(key))
        try other.store(prose(1000), key)
        try other.flush()
        #expect(try engine.status(of: key).isCached)
        #expect(try engine.items().map(\.key.string) == ["item-0", "item-2", "item-1"])
    }

    /// An item that its user moved away may be stored again, beside the record of its promotion.
    @Test func whatWasOpenedAndTakenAwayAndStoredAgainIsListed() throws {
        let key = try ItemKey(number: 1)
        let opened = try #require(try other.open(key).value)
        try opened.url.remove()
        try other.store(prose(1000), key)
        try other.flush()
        #expect(try engine.status(of: key).isCached)
        #expect(try engine.items().count == 3)
    }

    @Test func aCheckIsNoUse() throws {
        let key = try ItemKey(number: 0)
        var content = Data()
        let found = try engine.stream(key, nil, isUse: false) { bytes throws(CacheError) in
            content.append(contentsOf: bytes)
        }
        #expect(found.value != nil)
        #expect(content == prose(1000))
        let absent = try engine.stream("absent", nil, isUse: false) { _ throws(CacheError) in }
        #expect(absent.value == nil)
        #expect(try engine.items().first?.key == key)
        let statistics = try engine.statistics()
        #expect(statistics.hits == 0)
        #expect(statistics.misses == 0)
        _ = try engine.read(key, nil)
        #expect(try engine.items().last?.key == key)
    }
}
