import FileSystemTestSupport
import Foundation
import PrefetchFileSystem
import SystemPackage
import Testing

@testable import PrefetchCaching

/// Contract 8, with partials that are kept: they are charged at every moment, once, and go first.
@Suite struct PartialBudgetTests {
    private let container = TemporaryContainer.make(budget: .mebibytes(8))
    private let budget = ByteCount.mebibytes(8)
    private let content = noise(7 << 20)

    private func keep(_ mebibytes: Int, _ key: ItemKey, in engine: Engine) throws {
        #expect(try engine.keep(content.prefix(mebibytes << 20), key)?.contentBytes == Int64(mebibytes << 20))
    }

    private func keptKeys(_ engine: Engine) throws -> [ItemKey] {
        try (0..<10).map { try ItemKey(number: $0) }.filter { try engine.partial(of: $0) != nil }
    }

    @Test func aSuspendedWriterGivesBackAllButWhatIsKept() throws {
        let engine = try container.engine()
        let store = try engine.beginKept("item-0", expectedLength: 6 << 20)
        try store.append(content.prefix(2 << 20))
        _ = try store.suspend()
        let charge = engine.charge
        let kept = charge(storedBytes: 2 << 20)
        #expect(engine.catalog.inMemory { $0.allowance.reserved } == 0)
        let statistics = try engine.statistics()
        #expect(statistics.partials == 1)
        #expect(statistics.partialBytes > kept && statistics.partialBytes <= kept + 4096 + 512)
        #expect(statistics.chargedBytes == statistics.partialBytes)
        #expect(statistics.items == 0)
        try expectBooksAfterMaintenance(engine, container)
        let other = try container.engine()
        #expect(try other.store(noise(5 << 20), "beside").isStored)
        #expect(try other.partial(of: "item-0") != nil)
    }

    /// Several chunks are encoded at once, and the second of them, or the third, finds no room.
    @Test(arguments: stride(from: 2_500_000, to: 5_000_000, by: 250_000).map { $0 })
    func aPartialThatIsRefusedAmongItsChunksIsChargedForAllThatIsKept(valued: Int) throws {
        let engine = try container.engine()
        try engine.store(noise(valued), as: ItemMetadata("valued", priority: 1))
        let store = try engine.beginKept("item-0")
        try store.append(content.prefix(1 << 20))
        let refusal = try store.offer(content.dropFirst(1 << 20))
        #expect(refusal == .lowPriority(0))
        try engine.flush()
        #expect(try engine.statistics().chargedBytes == container.chargedOnDisk())
        #expect(try engine.statistics().partials == 1)
        let partial = try #require(try engine.partial(of: "item-0"))
        let (next, replayed) = try engine.resume("item-0")
        #expect(replayed == content.prefix(Int(partial.contentBytes)))
        try next.cancel()
        try expectBooksAfterMaintenance(engine, container)
    }

    @Test func theOldestPartialGoesBeforeAnyItem() throws {
        let engine = try container.engine()
        try engine.store(noise(1 << 20), "item")
        for number in 0..<3 { try keep(2, ItemKey(number: number), in: engine) }
        #expect(try engine.store(noise(1 << 20), "more").isStored)
        #expect(try keptKeys(engine) == [ItemKey(number: 1), ItemKey(number: 2)])
        #expect(try engine.store(noise(3 << 20), "much more").isStored)
        #expect(try keptKeys(engine) == [ItemKey(number: 2)])
        #expect(try engine.items().count == 3)
        try expectBooksAfterMaintenance(engine, container)
    }

    @Test(arguments: EvictionPolicyChoice.allCases)
    func partialsAreTheFirstUnderEveryPolicy(policy: EvictionPolicyChoice) throws {
        let engine = try container.engine()
        _ = try engine.configure { $0.evictionPolicy = policy }
        try engine.store(noise(100_000), "item")
        try keep(1, "item-0", in: engine)
        #expect(try engine.evict(1) > 1 << 20)
        #expect(try engine.partial(of: "item-0") == nil)
        #expect(try engine.items().count == 1)
    }

    @Test func everythingThatIsEvictedIncludesThem() throws {
        let engine = try container.engine()
        try keep(2, "item-0", in: engine)
        let live = try engine.beginKept("item-1")
        try live.append(content.prefix(1 << 20))
        _ = try engine.evict(.max)
        #expect(try engine.partial(of: "item-0") == nil)
        #expect(try container.partials().count == 2)
        // One that is under way is nobody's victim.
        #expect(try live.suspend() != nil)
    }

    @Test func oneThatIsResumedIsNoVictimAndIsChargedOnce() throws {
        let engine = try container.engine()
        try keep(3, "item-0", in: engine)
        let (store, _) = try engine.resume("item-0")
        #expect(try engine.statistics().partials == 0)
        let held = engine.catalog.inMemory { $0.allowance.bound }
        #expect(try engine.capacity().heldBytes == held)
        #expect(try engine.capacity().chargedBytes == 0)
        #expect(held >= 3 << 20 && held < 4 << 20)
        #expect(try engine.evict(.max) == 0)
        try store.append(content.subdata(in: 3 << 20..<4 << 20))
        _ = try store.commit()
        #expect(try isSame(engine.content("item-0"), content.prefix(4 << 20)))
    }

    @Test func whatIsOnDiskNeverExceedsTheBudget() throws {
        let watch = ChargeWatch(container)
        let engine = try container.engine(fileSystem: watch.fileSystem)
        for number in 0..<12 {
            try keep(1 + number % 3, ItemKey(number: number % 4), in: engine)
            try engine.store(noise(300_000, seed: UInt64(number)), ItemKey(number: 100 + number))
            if number % 2 == 1, let partial = try engine.partial(of: ItemKey(number: number % 4)),
                case .begun(let store) = try engine.resume(partial, replay: { _ in })
            {
                try store.append(content.prefix(1 << 20))
                if number % 4 == 1 { _ = try store.commit() } else { _ = try store.suspend() }
            }
            #expect(try container.chargedOnDisk() <= budget.bytes)
        }
        #expect(watch.mostBytes <= budget.bytes)
        #expect(watch.mostBytes > budget.bytes / 2)
        try expectBooksAfterMaintenance(engine, container)
    }

    @Test func aResumeThatFindsNoRoomIsRefusedAndKeepsWhatThereIs() throws {
        let engine = try container.engine()
        let store = try engine.beginKept("item-0", expectedLength: 6 << 20)
        try store.append(content.prefix(2 << 20))
        let partial = try #require(try store.suspend())
        // What the process keeps in advance goes back with the next look after the cache.
        try engine.maintain()
        let other = try container.engine()
        let beside = try other.begin("beside", expectedLength: 4 << 20)
        #expect(try engine.resume(partial, replay: { _ in })?.refusal?.reason == "overBudget")
        #expect(try engine.partial(of: "item-0") == partial)
        try beside.cancel()
        for engine in [engine, other] { try engine.maintain() }
        try expectBooksLikeDisk(engine, container)
        #expect(try isSame(engine.resume("item-0").replayed, content.prefix(2 << 20)))
    }

    @Test func aResumeWhileStoringIsOffIsRefused() throws {
        let engine = try container.engine()
        try keep(1, "item-0", in: engine)
        let partial = try #require(try engine.partial(of: "item-0"))
        _ = try engine.configure { $0.isStoringEnabled = false }
        #expect(try engine.resume(partial, replay: { _ in })?.refusal?.reason == "disabled")
        #expect(try engine.partial(of: "item-0") == partial)
    }

    @Test func theyAreFoundWhenTheCatalogIsLost() throws {
        let engine = try container.engine()
        for number in [2, 0, 1] { try keep(1, ItemKey(number: number), in: engine) }
        try engine.close()
        try container.catalog.remove()
        let next = try container.engine()
        try expectBooksLikeDisk(next, container)
        #expect(try next.statistics().partials == 3)
        // Still in the order in which they were kept.
        _ = try next.evict(1)
        #expect(try keptKeys(next) == [ItemKey(number: 0), ItemKey(number: 1)])
    }

    @Test func oneThatIsWrittenIsNotChargedTwiceWhenTheCatalogIsLost() throws {
        let first = try container.engine()
        let store = try first.beginKept("item-0")
        try store.append(content.prefix(4 << 20))
        let bound = first.catalog.inMemory { $0.allowance.bound }
        try container.catalog.remove()
        let second = try container.engine()
        #expect(try second.capacity().heldBytes == bound)
        #expect(try second.capacity().chargedBytes == 0)
        _ = try store.suspend()
        for engine in [first, second] { try engine.maintain() }
        try expectBooksLikeDisk(second, container)
        #expect(try second.statistics().partials == 1)
    }

    /// Whatever the call of a resume at which another process makes the catalog anew, and wants the room.
    @Test func oneThatIsResumedWhileTheCatalogIsMadeAnewIsChargedAtEveryMoment() throws {
        for number in 0... {
            let container = try TemporaryContainer(in: .fastTemporaryFolder, budget: budget)
            let fileSystem = InterceptingFileSystem()
            let first = try container.engine(fileSystem: fileSystem)
            let partial = try #require(try first.keep(content.prefix(5 << 20), "item-0"))
            try first.maintain()
            let second = try container.engine()
            let count = CallCounter()
            let budget = budget.bytes
            fileSystem.intercept { _ in
                guard count.next() == number else { return }
                do {
                    try container.catalog.remove()
                    _ = try second.store(noise(4 << 20), "beside", encoding: .forced(.identity))
                    #expect(try container.chargedOnDisk() <= budget, "at call \(number)")
                } catch {
                    Issue.record(error)
                }
            }
            let resumed = try first.resume(partial, replay: { _ in })
            fileSystem.intercept { _ in }
            if case .begun(let store) = resumed {
                #expect(store.contentBytes == 5 << 20)
                _ = try store.suspend()
            }
            for engine in [first, second] { try engine.maintain() }
            #expect(try container.chargedOnDisk() <= budget, "at call \(number)")
            try expectBooksLikeDisk(second, container, "at call \(number)")
            guard count.next() > number else { return #expect(number > 20) }
        }
    }

    @Test func whatAKilledWriterHasWrittenIsKeptAndChargedOnce() throws {
        let fileSystem = InterceptingFileSystem()
        let first = try container.engine(fileSystem: fileSystem)
        let store = try first.beginKept("item-0", expectedLength: 6 << 20)
        try store.append(content.prefix(3_500_000))
        fileSystem.die()
        let second = try container.engine()
        #expect(try second.partial(of: "item-0")?.contentBytes == 3 << 20)
        try second.complete("item-0", content.prefix(6 << 20), after: 3 << 20)
        try expectBooksAfterMaintenance(second, container)
    }

    @Test func oneOfAKilledWriterIsFoundBesideACatalogThatIsInUse() throws {
        let second = try container.engine()
        _ = try second.statistics()
        let fileSystem = InterceptingFileSystem()
        let first = try container.engine(fileSystem: fileSystem)
        let store = try first.beginKept("item-0", expectedLength: 6 << 20)
        try store.append(content.prefix(3 << 20))
        fileSystem.die()
        // Its process looks as if it held 6 MiB still.
        let partial = try #require(try second.partial(of: "item-0"))
        let resumed = try #require(try second.resume(partial, replay: { _ in })?.begun)
        #expect(try second.capacity().heldBytes <= budget.bytes)
        _ = try resumed.suspend()
        try expectBooksAfterMaintenance(second, container)
        _ = store
    }

    @Test(arguments: ["chunks", "journal"])
    func halfAPairIsRemovedWhenTheCatalogIsRebuilt(half: String) throws {
        let engine = try container.engine()
        try keep(2, "item-0", in: engine)
        try engine.close()
        try FileManager.default.removeItem(
            at: half == "chunks" ? container.chunks("item-0") : container.journal("item-0"))
        try container.catalog.remove()
        let next = try container.engine()
        #expect(try next.statistics().partials == 0)
        #expect(try container.partials() == [])
        try expectBooksLikeDisk(next, container)
    }

    @Test func oneThatCanNeitherBeReadNorRemovedStaysCharged() throws {
        let engine = try container.engine()
        try keep(2, "item-0", in: engine)
        try engine.close()
        try container.catalog.remove()
        try Data([1]).write(to: container.journal("item-0"))
        let fileSystem = InterceptingFileSystem()
        fileSystem.fail(.notPermitted) { $0.kind == .unlink && $0.name.count >= 32 }
        let next = try container.engine(fileSystem: fileSystem)
        try expectBooksLikeDisk(next, container)
        #expect(try next.statistics().partials == 1)
        fileSystem.intercept { _ in }
        #expect(try next.evict(.max) > 2 << 20)
        #expect(try container.partials() == [])
        try expectBooksLikeDisk(next, container)
    }

    @Test func aBudgetFromTheVolumeCountsItOnce() throws {
        let probe = ToldVolume(VolumeState(total: 64 << 30, available: 8 << 30))
        let engine = try container.engine(probe: probe)
        _ = try engine.configure { $0.budget = .automatic }
        try keep(4, "item-0", in: engine)
        for _ in 0..<2 {
            let state = try engine.catalog.reading { try engine.admission.watch.preview($0) }.capacity.state
            // Beside it there is the lock file of this process.
            let rest = state.evictable - (try engine.statistics().partialBytes)
            #expect((0...4096).contains(rest))
        }
        let (store, _) = try engine.resume("item-0")
        let state = try engine.catalog.reading { try engine.admission.watch.preview($0) }.capacity.state
        #expect(state.evictable >= 4 << 20 && state.evictable < 5 << 20)
        try store.cancel()
    }
}
