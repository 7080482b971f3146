import FileSystemTestSupport
import Foundation
import PrefetchFileSystem
import Synchronization
import SystemPackage
import Testing

@testable import PrefetchCaching

/// No item is given up for an item that cannot be stored.
@Suite struct RoomForRequestTests {
    private let container: TemporaryContainer
    private let fileSystem = InterceptingFileSystem()
    private let engine: Engine

    init() throws {
        container = try TemporaryContainer()
        engine = try container.engine(fileSystem: fileSystem)
        try configure { $0.largestItem = .mebibytes(8) }
    }

    private func configure(_ change: (inout CacheConfiguration) -> Void) throws {
        try engine.configure(.fixed(.mebibytes(8)), change)
    }

    private func fill(_ numbers: Range<Int>, of length: Int) throws {
        let content = noise(length)
        for number in numbers {
            #expect(try engine.store(content, ItemKey(number: number)).isStored)
        }
        try engine.flush()
    }

    private func lease(_ key: ItemKey) throws -> Descriptor {
        try #require(try engine.folders.openItem(key.hash))
    }

    private var keys: [String] { get throws { try engine.items().map(\.key.string) } }

    private func path(_ number: Int) throws -> String {
        try CacheLayout.file(of: ItemKey(number: number).hash).string
    }

    /// Stores in vain, and sees that the others keep their place.
    private func expectRefusalThatCostsNothing(
        _ length: Int, _ reason: String = "overBudget", sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let before = try keys
        let outcome = try engine.store(noise(length, seed: 99), "in vain")
        guard case .refused(let refusal) = outcome else {
            Issue.record("not refused", sourceLocation: sourceLocation)
            return
        }
        #expect(refusal.reason == reason, sourceLocation: sourceLocation)
        #expect(try keys == before, sourceLocation: sourceLocation)
        #expect(try engine.statistics().evictions == 0, sourceLocation: sourceLocation)
        for key in before {
            #expect(try engine.contains(ItemKey(key)), sourceLocation: sourceLocation)
        }
    }

    @Test func aRefusalTellsWhatTheWholeItemNeeds() throws {
        try engine.store(noise(6 << 20), "pinned")
        let pin = try lease("pinned")
        defer { fileSystem.close(pin) }
        let store = try engine.begin(ItemMetadata("growing"), encoding: .forced(.identity))
        try store.append(mebibytes: 1)
        var refusal: Refusal?
        for _ in 0..<3 where refusal == nil {
            refusal = try store.offer(noise(1 << 20))
        }
        guard case .overBudget(let needed, _) = refusal else {
            Issue.record("\(String(describing: refusal))")
            return
        }
        #expect(needed > 2 << 20)
    }

    private func store(_ key: ItemKey, of length: Int, _ turn: Turn) throws -> Bool {
        try engine.store(noise(length), as: ItemMetadata(key), on: AdmissionTerms(.evicting, turn)).isStored
    }

    /// What is leased when one item of a list is refused may give way to the next.
    @Test func aLeaseDoesNotRefuseTheRestOfAList() throws {
        let round = Round()
        try fill(0..<1, of: 3 << 20)
        #expect(try store("first", of: 3 << 20, round.add("first")))
        let lease = try lease(ItemKey(number: 0))
        #expect(try !store("second", of: 3 << 20, round.add("second")), "nothing may give way to it")
        fileSystem.close(lease)
        #expect(try store("third", of: 3 << 20, round.add("third")))
    }

    /// Of an item whose length is not known more is reserved than it needs, as long as that is to be had.
    @Test func anItemThatFitsIsNotTakenForRefusedSinceMoreDoesNot() throws {
        let round = Round()
        try engine.store(noise(5 << 20), "pinned")
        let pin = try lease("pinned")
        defer { fileSystem.close(pin) }
        let terms = AdmissionTerms(.evicting, round.add("growing"))
        let store = try engine.begin(ItemMetadata("growing"), encoding: .forced(.identity), on: terms)
        try store.append(mebibytes: 2)
        #expect(try store.commit().isStored)
        #expect(terms.turn?.leastRefused == nil)
    }

    @Test(arguments: [ItemLimits.contentBytes + 1, .max])
    func aLengthBeyondTheFormatIsAnErrorAtOnce(length: Int64) throws {
        try configure {
            $0.budget = .fixed(.bytes(.max))
            $0.largestItem = .bytes(.max)
        }
        #expect(throws: CacheError.item(.contentTooLong)) {
            try engine.beginStore(ItemMetadata("in vain"), encoding: .automatic, expectedLength: length)
        }
    }

    @Test func metadataThatCannotBeCostsNothing() throws {
        try fill(0..<7, of: 1 << 20)
        let before = try keys
        var metadata = ItemMetadata("in vain")
        metadata.priority = 2
        #expect(throws: CacheError.item(.priorityOutOfRange(2))) {
            try engine.beginStore(metadata, encoding: .automatic, expectedLength: 4 << 20)
        }
        #expect(try keys == before)
    }

    @Test(arguments: [20, 100], EvictionPolicyChoice.allCases)
    func whereTheRestIsPinnedARefusalCostsNothing(count: Int, policy: EvictionPolicyChoice) throws {
        try configure {
            $0.largestItem = .mebibytes(8)
            $0.evictionPolicy = policy
        }
        // Of the others, too few or more than are claimed at a time.
        try engine.store(noise(5 << 20), "pinned")
        try fill(0..<count, of: 2_000_000 / count)
        let pin = try lease("pinned")
        try expectRefusalThatCostsNothing(4 << 20)
        engine.environment.fileSystem.close(pin)
        #expect(try engine.store(noise(4 << 20), "now").isStored, "refused though nothing is pinned any more")
        #expect(try container.chargedOnDisk() <= 8 << 20)
    }

    @Test(arguments: EvictionPolicyChoice.allCases)
    func manyMakeWayForOneInTheOrderOfThePolicy(_ policy: EvictionPolicyChoice) throws {
        try configure {
            $0.largestItem = .mebibytes(8)
            $0.evictionPolicy = policy
        }
        try fill(0..<200, of: 30_000)
        #expect(try engine.store(noise(4 << 20), "large").isStored)
        let keys = try keys
        let left = (0..<200).filter { keys.contains("item-\($0)") }
        #expect((1..<200 - RoomForRequest.mostClaims).contains(left.count))
        #expect(left == Array(200 - left.count..<200))
        #expect(try engine.statistics().evictions == Int64(200 - left.count))
        #expect(try engine.statistics().chargedBytes == container.chargedOnDisk())
    }

    @Test func noMoreAreLookedAtThanHaveToGo() throws {
        try fill(0..<200, of: 30_000)
        let engine = try container.engine(fileSystem: fileSystem)
        let looks = Atomic<Int>(0)
        fileSystem.intercept { operation in
            if operation.kind == .lock, operation.name.contains("/") {
                looks.wrappingAdd(1, ordering: .relaxed)
            }
        }
        // Of which each makes as many go.
        let content = noise(30_000)
        for number in 200..<280 { try engine.store(content, ItemKey(number: number)) }
        let evictions = Int(try engine.statistics().evictions)
        #expect(evictions > 10)
        #expect(looks.load(ordering: .relaxed) <= evictions)
    }

    /// What is going to be removed cannot be leased, and what is seen to be free may be.
    @Test func whoTakesALeaseMeanwhileKeepsItAndAnotherGoes() throws {
        try fill(0..<200, of: 30_000)
        let (claimed, free) = (try path(1), try ItemKey(number: 70))
        let isFirst = Atomic<Bool>(true)
        let isClaimed = Atomic<Bool>(false)
        let leases = Mutex<[Descriptor]>([])
        let (items, live) = (engine.folders.current.items.descriptor, LiveFileSystem())
        fileSystem.intercept { operation throws(FileSystemError) in
            guard operation.kind == .unlink, isFirst.exchange(false, ordering: .relaxed) else { return }
            let other = try live.open(FilePath(claimed), in: items, .read)
            isClaimed.store(try !live.lock(other, .shared, waiting: false), ordering: .relaxed)
            live.close(other)
            let lease = try live.open(CacheLayout.file(of: free.hash), in: items, .read)
            _ = try live.lock(lease, .shared, waiting: false)
            leases.withLock { $0.append(lease) }
        }
        #expect(try engine.store(noise(4 << 20), "large").isStored)
        let wasClaimed = isClaimed.load(ordering: .relaxed)
        #expect(wasClaimed)
        #expect(try keys.first == free.string)
        #expect(try engine.content(free) == noise(30_000))
        #expect(try container.chargedOnDisk() <= 8 << 20)
        for lease in leases.withLock({ $0 }) { live.close(lease) }
    }

    @Test func whereAFileCannotBeRemovedNoOtherGoesInVain() throws {
        try fill(0..<3, of: 2_500_000)
        let pin = try lease(ItemKey(number: 2))
        let stuck = try path(0)
        fileSystem.intercept { operation throws(FileSystemError) in
            if operation.kind == .unlink, operation.name == stuck {
                throw FileSystemError("unlink", errno: .permissionDenied)
            }
        }
        try expectRefusalThatCostsNothing(5_500_000)
        engine.environment.fileSystem.close(pin)
        #expect(try engine.store(noise(5_500_000), "large").isStored, "refused though others can be removed")
        #expect(try keys == ["item-0", "large"])
    }

    @Test func whatReplacedAVictimMeanwhileStays() throws {
        try fill(0..<3, of: 2_500_000)
        let (first, second) = (try path(0), try container.item(ItemKey(number: 1)))
        fileSystem.intercept { operation in
            guard operation.kind == .unlink, operation.name == first else { return }
            do {
                try Data("anew".utf8).write(to: second, options: .atomic)
            } catch {
                Issue.record(error)
            }
        }
        _ = try engine.store(noise(5_000_000), "large")
        #expect(try Data(contentsOf: second) == Data("anew".utf8))
    }

    @Test func whatWasGoneAlreadyMakesRoomAndCostsNobody() throws {
        try fill(0..<3, of: 2_500_000)
        try FileManager.default.removeItem(at: container.item(ItemKey(number: 0)))
        let pin = try lease(ItemKey(number: 2))
        #expect(try engine.store(noise(6_000_000), "in vain").refusal?.reason == "overBudget")
        #expect(try keys == ["item-1", "item-2"] && engine.statistics().evictions == 0)
        #expect(try engine.store(noise(2_500_000), "small").isStored, "refused though there is room")
        #expect(try keys == ["item-1", "item-2", "small"])
        engine.environment.fileSystem.close(pin)
    }
}
