import FileSystemTestSupport
import Foundation
import Testing

@testable import PrefetchCaching

/// A sound file of one key lies under the name of another: a miss and a quarantine, whoever asks.
@Suite struct HostileSwappedItemTests {
    /// Each is asked for some of the items.
    private enum Question: CaseIterable {
        case read, range, stream, open, openSeveral, metadata
    }

    private let container = TemporaryContainer.make()

    private func key(_ number: Int) throws -> ItemKey { try ItemKey(number: number) }

    /// An engine with as many pairs of items, each under the other's name.
    private func engineWithSwappedItems(pairs: Int) throws -> Engine {
        let engine = try container.engine()
        for number in 0..<2 * pairs {
            try engine.store(prose(500, seed: UInt64(number)), key(number), encoding: .forced(.lz4))
        }
        try engine.flush()
        for pair in 0..<pairs {
            let (left, right) = (container.item(try key(2 * pair)), container.item(try key(2 * pair + 1)))
            let aside = container.root.appending(path: "aside")
            try left.move(to: aside)
            try right.move(to: left)
            try aside.move(to: right)
        }
        return engine
    }

    @Test func noFileUnderTheNameOfAnotherKeyIsServed() throws {
        var record = AttackRecord("damage.swapped-items", of: "questions for an item under another's name")
        let pairs = TestRun.count(short: 12, long: 200)
        let engine = try engineWithSwappedItems(pairs: pairs)
        let report = try engine.verified()
        #expect(report.damaged == 2 * pairs && report.verifiedItems == 0)
        for number in 0..<2 * pairs {
            record.cases += 1
            let question = Question.allCases[number % Question.allCases.count]
            let (isServed, miss) = try ask(question, for: key(number), in: engine)
            record.note(\.wrongBytes, if: isServed)
            #expect(
                !isServed && (miss ?? .damaged(.damaged(.key))) == .damaged(.damaged(.key)), "\(question)")
            let quarantined = try container.caches.appending(
                path: "quarantine/\(key(number).hash.inQuarantine.hexadecimal)")
            #expect(quarantined.exists, "\(question)")
        }
        #expect(try engine.statistics().chargedBytes == container.chargedOnDisk())
        #expect(try container.files(below: container.documents) == [])
        #expect(record.isHarmless)
        record.report()
    }

    /// Nobody who asks only whether there is something is told of another key's file.
    @Test func noFileUnderTheNameOfAnotherKeyIsContained() throws {
        let engine = try engineWithSwappedItems(pairs: 2)
        for number in 0..<4 { #expect(try !engine.contains(key(number)), "\(number)") }
        try engine.close()
    }

    /// - Returns: Whether something was served, and else why not, where the question tells.
    private func ask(_ question: Question, for key: ItemKey, in engine: Engine) throws -> (Bool, Miss?) {
        func answer<Value>(_ lookup: Lookup<Value>) -> (Bool, Miss?) {
            switch lookup {
            case .hit: (true, nil)
            case .miss(let miss): (false, miss)
            }
        }
        switch question {
        case .read: return try answer(engine.read(key, nil))
        case .range: return try answer(engine.read(key, 100..<200))
        case .stream: return try answer(engine.stream(key, nil) { _ in })
        case .open: return try answer(engine.open(key))
        case .openSeveral:
            let results = engine.open([key, "absent"])
            return try answer(results[0].get())
        case .metadata: return (try engine.description(of: key) != nil, nil)
        }
    }

    /// The catalog is made anew from files that are not what their names say.
    @Test func aNewCatalogBelievesNoName() throws {
        let container = try TemporaryContainer()
        let engine = try container.engine()
        let keys: [ItemKey] = ["left", "right", "good"]
        for key in keys { try engine.store(prose(500), key) }
        try engine.close()
        try container.item("left").remove()
        try container.item("left").deletingLastPathComponent().makeFolder()
        try container.item("right").move(to: container.item("left"))
        try container.catalog.remove()
        let next = try container.engine()
        #expect(try next.items().map(\.key) == ["good"])
        #expect(try next.statistics().quarantinedItems == 1)
        #expect(try next.statistics().chargedBytes == container.chargedOnDisk())
    }
}
