import FileSystemTestSupport
import Foundation
import PrefetchFileSystem
import SystemPackage
import Testing

@testable import PrefetchCaching

/// The clock stands anywhere, and is set in the middle of everything.
@Suite struct HostileClockTests {
    private let container = TemporaryContainer.make()
    private let clock = TestClock(Self.today)

    private static let year: Int64 = 31_556_952_000
    private static let today: Int64 = 1_700_000_000_000
    /// What a machine without a clock of its own may say at its start, and the ends of 32-bit seconds.
    private static let odd: [Int64] = [
        -14_182_940_000, 0, 2_147_483_647_000, 2_147_483_648_000, 4_294_967_296_000, today - 10 * year,
        today + 10 * year,
    ]

    private func engine() throws -> Engine { try container.engine(now: { [clock] in clock.now }) }

    private func store(_ key: ItemKey, in engine: Engine, expiresAt: Int64? = nil) throws {
        try engine.store(noise(10_000), as: ItemMetadata(key, expiresAt: expiresAt))
    }

    @Test func theOrderOfUseIsThatOfUse() throws {
        var record = AttackRecord("time.order-of-use", of: "uses between which the clock is set")
        let engine = try engine()
        var generator = SeededGenerator(seed: TestRun.seed)
        var order: [ItemKey] = []
        for number in 0..<60 {
            clock.now = try #require(Self.odd.randomElement(using: &generator))
            let key = try ItemKey(number: number % 40)
            if order.contains(key) {
                let isRight = try engine.content(key) == noise(10_000)
                #expect(isRight)
                record.note(\.wrongBytes, if: !isRight)
            } else {
                try store(key, in: engine)
            }
            order.removeAll { $0 == key }
            order.append(key)
            record.cases += 1
            if Int.random(in: 0..<4, using: &generator) == 0 { try engine.flush() }
            if Int.random(in: 0..<8, using: &generator) == 0 { try engine.maintain() }
        }
        try engine.flush()
        #expect(try engine.items().map(\.key) == order, "seed \(TestRun.seed)")
        for count in 1...5 {
            clock.now = Self.odd[count]
            _ = try engine.evict(1)
            #expect(try engine.items().map(\.key) == Array(order.dropFirst(count)), "seed \(TestRun.seed)")
        }
        try engine.close()
        clock.now = -1
        #expect(try self.engine().items().map(\.key) == Array(order.dropFirst(5)), "seed \(TestRun.seed)")
        record.report()
    }

    /// A clock that is behind makes nothing expire, and one that was behind nothing that has its time before it. Times of
    /// expiry lie a week ahead, and where seconds in 32 bits end: what is a millisecond before it is there, and no longer.
    @Test(arguments: [today + 7 * 86_400_000, 2_147_483_648_000, 4_294_967_296_000])
    func nothingExpiresBeforeItsTime(end: Int64) throws {
        var record = AttackRecord("time.expiry", of: "looks at items that expire")
        let engine = try engine()
        try store("stored today", in: engine, expiresAt: end)
        clock.now = Self.odd[0]
        try store("stored in 1969", in: engine, expiresAt: end)
        try store("without end", in: engine)
        for time in Self.odd.filter({ $0 < end }) + [Self.today, end - 1] {
            clock.now = time
            try engine.maintain()
            for key in ["stored today", "stored in 1969", "without end"] as [ItemKey] {
                record.cases += 1
                let content = try engine.content(key)
                #expect(content != nil, "\(key) at \(time)")
                record.note(\.wrongBytes, if: content.map { $0 != noise(10_000) } ?? false)
                #expect(try engine.contains(key), "\(key) at \(time)")
            }
        }
        // The first who asks removes them; whoever asks later must not have them, either.
        for time in [end] + Self.odd.filter({ $0 > end }) + [end + 10 * Self.year] {
            clock.now = time
            for key in ["stored today", "stored in 1969"] as [ItemKey] {
                record.cases += 1
                #expect(try engine.content(key) == nil, "\(key) at \(time)")
                #expect(try !engine.contains(key), "\(key) at \(time)")
            }
            try engine.maintain()
            #expect(try engine.items().map(\.key) == ["without end"])
        }
        #expect(record.isHarmless)
        record.report()
    }

    /// What is kept of a broken download outlives a clock that goes back, and goes by one that goes on.
    @Test func aPartialStaysWhileTheClockIsBehind() throws {
        let engine = try engine()
        #expect(try engine.keep(noise(1 << 20), "k") != nil)
        for time in [Self.today - 10 * Self.year, Self.odd[0], Self.today] {
            clock.now = time
            try engine.maintain()
            #expect(try engine.partial(of: "k") != nil, "\(time)")
        }
        clock.now = Self.today + 10 * Self.year
        #expect(try engine.partial(of: "k") == nil)
    }

    @Test func timesAreWhatTheClockSaid() throws {
        var record = AttackRecord("time.round-trip", of: "times that are stored and read")
        let engine = try engine()
        for (number, time) in Self.odd.enumerated() {
            clock.now = time
            for name in ["cached", "opened"] {
                try store(ItemKey("\(name)-\(number)"), in: engine, expiresAt: 8_000_000_000_000)
            }
            _ = try engine.open(ItemKey("opened-\(number)"))
            record.cases += 3
        }
        try engine.close()
        try container.catalog.remove()
        let next = try self.engine()
        let stored = Dictionary(uniqueKeysWithValues: try next.items().map { ($0.key.string, $0.storedAt) })
        let opened = Dictionary(
            uniqueKeysWithValues: try next.promotedFiles().map { ($0.key.string, $0.openedAt) })
        for (number, time) in Self.odd.enumerated() {
            #expect(stored["cached-\(number)"] == time)
            #expect(opened["opened-\(number)"] == time)
            #expect(try next.description(of: ItemKey("cached-\(number)"))?.metadata.storedAt == time)
        }
        record.report()
    }

    /// Anybody may give a file any time that the volume can hold, which nanoseconds cannot.
    @Test(arguments: [-14_182_940, 2_147_483_648, 4_294_967_296, 13_569_465_600] as [Double])
    func aFileOfAnyTimeIsReadAndVerified(_ seconds: Double) throws {
        let engine = try engine()
        for key in ["cached", "opened"] as [ItemKey] { try store(key, in: engine) }
        let opened = try #require(try engine.open("opened").value).path.string
        for path in [container.item("cached").path, opened] {
            try URL(filePath: path).setModified(seconds)
        }
        #expect(try engine.content("cached") == noise(10_000))
        #expect(try engine.open("opened").value?.path.string == opened)
        let report = try engine.verified()
        #expect(report.verifiedItems == 1 && report.damaged == 0)
        try engine.close()
        try container.catalog.remove()
        #expect(try self.engine().items().map(\.key) == ["cached"])
    }
}
