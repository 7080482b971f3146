import FileSystemTestSupport
import Foundation
import PrefetchFileSystem
import SystemPackage
import Testing

@testable import PrefetchCaching

/// Volumes, probes and clocks that say what cannot be: a clear answer each, and nothing is lost.
@Suite struct TroubledVolumeTests {
    private let container = TemporaryContainer.make()

    private func expectThat(_ engine: Engine, stillHas count: Int) throws {
        for number in 0..<count {
            #expect(try engine.content(ItemKey(number: number)) == noise(100_000, seed: UInt64(number)))
        }
    }

    private func fill(_ engine: Engine, _ count: Int) throws {
        for number in 0..<count {
            try engine.store(noise(100_000, seed: UInt64(number)), ItemKey(number: number))
        }
        try engine.flush()
    }

    @Test func aQuotaThatIsUsedUpRefusesAsAFullVolumeDoes() throws {
        let fileSystem = InterceptingFileSystem()
        let engine = try container.engine(fileSystem: fileSystem)
        try fill(engine, 2)
        fileSystem.fail(.diskQuotaExceeded) { $0.kind == .write }
        #expect(try engine.store(noise(1000), "new") == .refused(.pressure(.critical)))
        #expect(try container.partials() == [])
        try expectThat(engine, stillHas: 2)
    }

    @Test func aVolumeThatCannotBeMeasuredCostsNothingThatIsThere() throws {
        let fileSystem = InterceptingFileSystem()
        let engine = try container.engine(fileSystem: fileSystem, probe: nil)
        try engine.configure(.fixed(.mebibytes(4)))
        fileSystem.fail { $0.kind == .volume }
        #expect(throws: CacheError.fileSystem(FileSystemError("volume", errno: .ioError))) {
            try engine.store(noise(1000), "new")
        }
        try engine.maintain()
        fileSystem.intercept { _ in }

        try fill(engine, 3)
        fileSystem.fail { $0.kind == .volume }
        try engine.maintain()
        try expectThat(engine, stillHas: 3)
        // Whoever has the item on the volume needs no figures to open it.
        let opened = try #require(try engine.open(ItemKey(number: 0)).value)
        #expect(try Data(contentsOf: opened.url) == noise(100_000, seed: 0))
    }

    @Test func aLookThatFailsDoesNotKeepTheBooksFromBeingWritten() throws {
        let fileSystem = InterceptingFileSystem()
        let engine = try container.engine(fileSystem: fileSystem)
        for (number, kind) in [FileSystemTestSupport.Operation.Kind.entries, .volume].enumerated() {
            try engine.store(noise(100_000, seed: UInt64(number)), ItemKey(number: number))
            fileSystem.fail(.tooManyOpenFiles) { $0.kind == kind }
            try engine.maintain()
            #expect(!engine.hasPendingChanges)
            fileSystem.intercept { _ in }
        }
        try expectThat(engine, stillHas: 2)
    }

    @Test func aConfigurationThatCannotBeReadDoesNotKeepTheBooksFromBeingWritten() throws {
        let engine = try container.engine()
        try fill(engine, 2)
        try engine.store(noise(100_000, seed: 2), ItemKey(number: 2))
        try Data("{".utf8).write(to: container.support.appending(path: "configuration.json"))
        try engine.maintain()
        #expect(!engine.hasPendingChanges)
        try expectThat(engine, stillHas: 3)
        #expect(throws: CacheError.self) { try engine.store(noise(1 << 20), "new") }
    }

    @Test(arguments: [CacheConfiguration.Budget.automatic, .fixed(.mebibytes(4))])
    func aVolumeWithoutASizeTakesNothingAndKeepsWhatIsThere(budget: CacheConfiguration.Budget) throws {
        let volume = ToldVolume(VolumeState(total: 1 << 40, available: 1 << 39))
        let engine = try container.engine(probe: volume)
        try engine.configure(budget)
        try fill(engine, 3)
        volume.tell(VolumeState(total: 0, available: 0))
        try engine.maintain()
        #expect(try engine.store(noise(1000), "new").refusal?.reason == "overBudget")
        try engine.maintain()
        try engine.configure(budget)
        try expectThat(engine, stillHas: 3)
        volume.tell(VolumeState(total: 1 << 40, available: 1 << 39))
        try fill(engine, 4)
        try expectThat(engine, stillHas: 4)
    }

    @Test func moreAvailableThanThereIsCountsAsAllThereIs() throws {
        let engine = try container.engine(probe: ToldVolume(VolumeState(total: 100 << 20, available: .max)))
        try fill(engine, 3)
        try engine.maintain()
        try expectThat(engine, stillHas: 3)
        let report = try engine.capacity()
        #expect(report.capacity.ownOrFree == 100 << 20)
        #expect((1...100 << 20).contains(report.budgetBytes))
    }

    @Test(arguments: [0, 1, 4096, 60_000] as [Int64])
    func aBudgetSmallerThanOneItemRefusesIt(bytes: Int64) throws {
        let engine = try container.engine()
        try engine.configure(.fixed(.bytes(bytes)))
        for length in [1, 100_000, 5 << 20] {
            guard case .refused(let refusal) = try engine.store(noise(length), "key") else {
                #expect(length == 1 && bytes == 60_000)
                continue
            }
            #expect(["overBudget", "largerThanLargestItem"].contains(refusal.reason))
        }
        try engine.maintain()
        #expect(try container.chargedOnDisk() <= bytes)
    }
}
