import Foundation
import SystemPackage
import Testing

@testable import PrefetchCaching

/// What is where.
@Suite struct OverviewTests {
    private let container = TemporaryContainer.make()

    private func store(_ count: Int, _ key: ItemKey, from source: String, in engine: Engine) throws {
        let store = try engine.begin(ItemMetadata(key, source: source), encoding: .forced(.identity))
        try store.append(noise(count))
        #expect(try store.commit().isStored)
    }

    @Test func sourcesAreAddedUpTheLargestFirst() throws {
        let engine = try container.engine()
        #expect(try engine.sources().isEmpty)
        try store(1000, "a", from: "small", in: engine)
        try store(50_000, "b", from: "large", in: engine)
        try store(70_000, "c", from: "large", in: engine)
        try store(9000, "d", from: "", in: engine)
        try engine.keep(noise((1 << 20) + 1), "partial")
        let sources = try engine.sources()
        #expect(sources.map(\.source) == ["large", "", "small"])
        #expect(sources.map(\.items) == [2, 1, 1])
        #expect(sources.map(\.contentBytes) == [120_000, 9000, 1000])
        let statistics = try engine.statistics()
        #expect(sources.reduce(0) { $0 + $1.storedBytes } == statistics.storedBytes)
        #expect(
            sources.reduce(0) { $0 + $1.chargedBytes } == statistics.chargedBytes - statistics.partialBytes)
    }

    @Test func partialsAreListedUntilTheyAreTaken() throws {
        let engine = try container.engine()
        try engine.keep(noise((2 << 20) + 1), "first")
        try engine.keep(noise((1 << 20) + 1), "second")
        let partials = try engine.partials()
        #expect(partials.map(\.key.string) == ["first", "second"])
        #expect(partials.map(\.contentBytes) == [2 << 20, 1 << 20])
        #expect(try partials.reduce(0) { $0 + $1.chargedBytes } == engine.statistics().partialBytes)
        for partial in partials {
            #expect(partial.expiresAt == partial.keptAt + PartialItem.lifetimeMilliseconds)
        }
        try engine.discardPartials("first")
        #expect(try engine.partials().map(\.key.string) == ["second"])
    }

    @Test func promotedFilesAreListedWithWhatIsInTheirPlace() throws {
        let engine = try container.engine()
        #expect(try engine.promotedFiles().isEmpty)
        for key in ["a", "b", "c", "d"] as [ItemKey] {
            try engine.store(prose(5000), key)
            if key != "d" { _ = try engine.open(key) }
        }
        let before = try engine.promotedFiles()
        #expect(before.map(\.key.string) == ["a", "b", "c"])
        #expect(before.map(\.presentBytes) == [5000, 5000, 5000])
        #expect(before.map(\.openedAt) == before.map(\.openedAt).sorted())
        // They are their user's.
        try FileManager.default.removeItem(atPath: before[0].path.string)
        try Data("shorter".utf8).write(to: URL(filePath: before[1].path.string))
        try FileManager.default.removeItem(atPath: before[2].path.string)
        try FileManager.default.createDirectory(
            atPath: before[2].path.string, withIntermediateDirectories: false)
        #expect(try engine.promotedFiles().map(\.presentBytes) == [nil, 7, nil])
        #expect(try engine.promotedFiles().map(\.contentBytes) == [5000, 5000, 5000])
    }
}
