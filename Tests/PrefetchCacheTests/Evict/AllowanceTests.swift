import FileSystemTestSupport
import Foundation
import GRDB
import PrefetchFileSystem
import Synchronization
import SystemPackage
import Testing

@testable import PrefetchCaching

/// What a process holds of the budget: in memory and in its row, the same sum at every moment.
@Suite struct AllowanceTests {
    private let container = TemporaryContainer.make()
    private let engine: Engine

    init() throws {
        engine = try container.engine()
        try engine.configure(.fixed(.mebibytes(4)))
    }

    /// The writer's row, read past the engine, which would write what is pending first.
    private func row() throws -> Int64 {
        try container.catalog.integer(sql: "SELECT SUM(allowance) FROM writer") ?? 0
    }

    /// What whoever makes the catalog anew takes this process to hold.
    private func boundInLockFile(of other: Engine? = nil) throws -> Int64 {
        let engine = other ?? engine
        return try WriterSession.bounds(in: engine.folders.current.incoming)[engine.environment.session] ?? 0
    }

    @Test(arguments: [1, 2] as [UInt64])
    func memoryAndRowAgreeWhateverHappens(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        for step in 0..<150 {
            let key = try ItemKey(number: Int.random(in: 0..<8, using: &generator))
            switch Int.random(in: 0..<12, using: &generator) {
            case 0..<5:
                try engine.store(
                    noise(Int.random(in: 0..<200_000, using: &generator)), key, to: .applicationSupport)
            case 5: _ = try engine.remove(key)
            case 6: if container.item(key).exists { try ruin(key, of: engine) }
            case 7: _ = try engine.evict(50_000)
            case 8: try step.isMultiple(of: 2) ? engine.flush() : engine.admission.writeBacklog()
            case 9:
                try container.catalog.remove()
                _ = try engine.evict(1)
            case 10:
                try ruinTheCatalog()
                try engine.store(noise(1 << 20, seed: UInt64(step)), key, to: .applicationSupport)
            default:
                try engine.maintain()
                #expect(try row() == 0, "step \(step): something is held for nothing")
            }
            let held = engine.catalog.inMemory { $0.allowance }
            #expect(held.free >= 0 && held.reserved == 0 && held.unrecorded >= 0, "step \(step)")
            #expect(try row() == held.free + held.reserved + held.unrecorded, "step \(step)")
            #expect(held.uncertain == 0, "step \(step)")
            #expect(try boundInLockFile() == held.bound, "step \(step)")
        }
        #expect(try engine.statistics().chargedBytes == container.chargedOnDisk())
    }

    @Test(arguments: [ResultCode.SQLITE_CORRUPT, .SQLITE_FULL])
    func whatATransactionGivesUpIsCountedOnceWhenItIsRunAgain(_ code: ResultCode) throws {
        let underWay = try engine.begin(ItemMetadata("under way"), expectedLength: 1_500_000)
        for number in 0..<20 { try engine.store(noise(20_000), ItemKey(number: number)) }
        #expect(engine.catalog.inMemory { $0.allowance.free } > 0)
        var hasFailed = false
        try engine.admission.givingUpAllowance(makingRoom: true) { _ in
            guard !hasFailed else { return }
            hasFailed = true
            throw DatabaseError(resultCode: code)
        }
        let held = engine.catalog.inMemory { $0.allowance }
        #expect(held.free == 0)
        #expect(held.reserved > 0)
        #expect(try row() == held.reserved + held.unrecorded)
        try underWay.cancel()
    }

    @Test func whatATransactionGaveUpIsTakenBackWhenItFails() throws {
        for number in 0..<20 { try engine.store(noise(20_000), ItemKey(number: number)) }
        let before = engine.catalog.inMemory { $0.allowance.free }
        #expect(throws: CacheError.closed) {
            try engine.admission.givingUpAllowance { _ in throw CacheError.closed }
        }
        let held = engine.catalog.inMemory { $0.allowance }
        #expect(held.free == before && before > 0)
        #expect(try row() == held.free + held.reserved + held.unrecorded)
    }

    @Test(arguments: [false, true])
    func aLookThatFailsAfterTheCommitIsMadeGood(whileStoresGoOn: Bool) throws {
        let fileSystem = InterceptingFileSystem()
        let engine = try container.engine(fileSystem: fileSystem)
        for number in 0..<20 { try engine.store(noise(20_000), ItemKey(number: number)) }
        let looks = Atomic<Int>(0)
        fileSystem.fail {
            $0.kind == .attributes && $0.name == CacheLayout.catalog
                && looks.wrappingAdd(1, ordering: .relaxed).newValue == 2
        }
        try whileStoresGoOn ? engine.admission.writeBacklog() : engine.flush()
        let count = looks.load(ordering: .relaxed)
        #expect(count > 2)
        let held = engine.catalog.inMemory { $0.allowance }
        #expect(held.uncertain == 0 && held.unrecorded == 0)
        #expect(try row() == held.free + held.reserved + held.unrecorded)
        #expect(try engine.statistics().chargedBytes == container.chargedOnDisk())
    }

    @Test func storesGoOnWhileABacklogIsWritten() throws {
        let fileSystem = InterceptingFileSystem()
        let now = Atomic<Int>(0)
        let engine = try container.engine(
            fileSystem: fileSystem, uptime: { .milliseconds(now.load(ordering: .relaxed)) })
        try engine.configure(.fixed(.gibibytes(4)))
        func storeABacklog(_ round: Int) throws {
            for number in 0..<Engine.backlogLimit {
                try engine.store(noise(20), ItemKey(number: round * 1000 + number))
            }
        }
        try storeABacklog(0)
        #expect(try engine.maintainInTurn(), "nothing was maintained yet")
        #expect(try row() == 0)

        try storeABacklog(1)
        now.store(500, ordering: .relaxed)
        let isArmed = Atomic<Bool>(true)
        fileSystem.intercept { operation throws(FileSystemError) in
            // The budget is looked up in between what the transaction takes and what it gives.
            guard operation.kind == .attributes, operation.name == CacheLayout.configuration.string,
                isArmed.exchange(false, ordering: .relaxed)
            else { return }
            // Within the transaction. A store that needed another one would end the process.
            do { try engine.store(noise(20), "beside") } catch { Issue.record(error) }
        }
        #expect(try !engine.maintainInTurn(), "the rest is not due yet")
        let hasStored = !isArmed.load(ordering: .relaxed)
        #expect(hasStored)
        let held = engine.catalog.inMemory { $0.allowance }
        #expect(held.free >= (8 << 20), "stores will have to wait")
        #expect(held.uncertain == 0 && held.unrecorded > 0)
        #expect(try row() == held.free + held.unrecorded)
        #expect(try boundInLockFile(of: engine) == held.bound)

        try storeABacklog(2)
        now.store(1000, ordering: .relaxed)
        #expect(try engine.maintainInTurn())
        #expect(try row() == 0, "something is held for nothing")
        #expect(try engine.statistics().items == 3 * Engine.backlogLimit + 1)
    }

    @Test func moreIsGrantedBeforeStoresHaveToWaitForIt() throws {
        let now = Atomic<Int>(0)
        var environment = engine.environment
        environment.uptime = { .milliseconds(now.load(ordering: .relaxed)) }
        let engine = try Engine(areas: container.areas(), environment: environment.withNewSession())
        try engine.configure(.fixed(.gibibytes(4)))
        var stored = 0
        func store() throws {
            stored += 1
            try engine.store(noise(100_000, seed: UInt64(stored)), ItemKey(number: stored))
        }
        func free() -> Int64 { engine.catalog.inMemory { $0.allowance.free } }
        for _ in 0..<2 {
            try store()
            #expect(!engine.isUrgent, "who stores one or two items needs no more")
        }
        while free() < (1 << 20) { try store() }
        #expect(!engine.isUrgent, "nothing of the grant is spent yet")
        while !engine.isUrgent { try store() }
        #expect((1 << 20..<2 << 20).contains(free()))
        #expect(try engine.maintainInTurn(), "nothing was maintained yet")
        #expect(free() == 0 && !engine.isUrgent)
        for round in 0..<3 {
            // More than half of it is spent before more is asked for, and no store has to wait.
            while !engine.isUrgent {
                if round > 0 { #expect(free() >= 8 << 20) }
                try store()
            }
            if round > 0 { #expect(free() > 7 << 20) }
            #expect(try !engine.maintainInTurn())
            #expect(free() == 16 << 20)
        }
        now.store(1000, ordering: .relaxed)
        #expect(try engine.maintainInTurn())
        #expect(free() == 0)
        #expect(try engine.content(ItemKey(number: stored)) != nil)
        #expect(!engine.isUrgent, "who only reads needs none")
        #expect(try row() == 0)
    }

    @Test func whatIsNotToBeHadIsNotAskedForAgainAndAgain() throws {
        try engine.configure(.fixed(.gibibytes(4)))
        for number in 0..<40 {
            try engine.store(noise(100_000, seed: UInt64(number)), ItemKey(number: number))
        }
        #expect(engine.isUrgent)
        try engine.configure(.fixed(.mebibytes(1)))
        try engine.admission.writeBacklog()
        #expect(!engine.catalog.inMemory { engine.admission.isRunningLow($0.allowance) })
    }

    @Test func whoOnlyReadsIsGrantedNothing() throws {
        try engine.store(noise(20), "key")
        try engine.maintain()
        let reader = try container.engine()
        func missABacklog(_ round: Int) throws {
            for number in 0..<Engine.backlogLimit {
                #expect(try reader.content(ItemKey(number: round * 1000 + number)) == nil)
            }
        }
        try missABacklog(0)
        try reader.maintain()
        try missABacklog(1)
        try reader.admission.writeBacklog()
        #expect(reader.catalog.inMemory { $0.allowance.bound } == 0)
        #expect(try row() == 0)
    }

    @Test func whatIsTooLargeIsRefusedThoughTheAllowanceWouldCoverIt() throws {
        try engine.configure(.fixed(.gibibytes(4))) { $0.largestItem = .mebibytes(1) }
        for number in 0..<3 { try engine.store(noise(100), ItemKey(number: number)) }
        try engine.admission.writeBacklog()
        #expect(engine.catalog.inMemory { $0.allowance.free } > (2 << 20))
        let (bytes, newcomer): (Int64, _) = (2 << 20, Newcomer(ItemMetadata("key")))
        let refusal = Refusal.largerThanLargestItem(needed: bytes, largest: 1 << 20)
        #expect(try engine.admission.refusal(ofItem: bytes, isGuess: false, for: newcomer) == refusal)
        #expect(throws: Refused.self) { try engine.admission.reserve(bytes, ofItem: bytes, for: newcomer) }
    }

    /// The source has sent larger items before; how long this one is will be known with the first answer of the server.
    @Test func anEstimateRefusesOnlyWhenNextToNothingIsFree() throws {
        for number in 0..<30 { try engine.store(noise(100_000), ItemKey(number: number)) }
        let round = Round()
        func refusalInRound(isGuess: Bool) throws -> Refusal? {
            let newcomer = Newcomer(
                ItemMetadata("turn"), AdmissionTerms(.onlyIntoFreeSpace, round.add("turn")))
            return try engine.admission.refusal(ofItem: 1_500_000, isGuess: isGuess, for: newcomer)
        }
        #expect(try refusalInRound(isGuess: true) == nil)
        #expect(try refusalInRound(isGuess: false) == .lowValue)
        // A long list is not downloaded in vain, item by item.
        #expect(try refusalInRound(isGuess: true) == .lowValue)
        let newcomer = Newcomer(ItemMetadata("key"), AdmissionTerms(.onlyIntoFreeSpace))
        func refusal(_ bytes: Int64, isGuess: Bool) throws -> Refusal? {
            try engine.admission.refusal(ofItem: bytes, isGuess: isGuess, for: newcomer)
        }
        #expect(try refusal(1_500_000, isGuess: true) == nil)
        #expect(try refusal(1_500_000, isGuess: false) == .lowValue)
        var number = 30
        while try refusal(16_384, isGuess: false) == nil {
            try engine.store(noise(10_000), ItemKey(number: number))
            number += 1
        }
        #expect(try refusal(1_500_000, isGuess: true) == .lowValue)
    }

    /// What comes next in a list would be evicted for it, and downloaded again.
    @Test(arguments: [true, false])
    func roomIsMadeInAdvanceButNotForAList(isListed: Bool) throws {
        for number in 0..<38 { try engine.store(noise(100_000), ItemKey(number: number)) }
        let metadata = ItemMetadata("wanted", priority: 1)
        _ = engine.admission.takeDemand()
        let terms = AdmissionTerms(.evicting, isListed ? Round().add("wanted") : nil)
        try engine.store(noise(100_000), as: metadata, on: terms)
        #expect(try engine.admission.trimAhead() == !isListed)
    }

    /// What is reserved beyond what is needed is taken only where there is room for it.
    @Test func nothingIsEvictedForWhatIsReservedAhead() throws {
        for number in 0..<38 { try engine.store(noise(100_000), ItemKey(number: number)) }
        let store = try engine.begin(ItemMetadata("growing", priority: 1), encoding: .forced(.identity))
        try store.append(noise(200_000))
        #expect(try store.commit().isStored)
        #expect(try engine.statistics().evictions <= 2)
    }

    @Test func nothingIsGrantedInAdvanceOfWhatIsLeftForTrimming() throws {
        for number in 0..<39 { try engine.store(noise(100_000), ItemKey(number: number)) }
        let before = engine.catalog.inMemory { $0.allowance.free }
        try engine.admission.writeBacklog()
        #expect(engine.catalog.inMemory { $0.allowance.free } <= before)
    }

    @Test func aGrantIsTakenOnceForAllThatWaitForIt() async throws {
        let fileSystem = InterceptingFileSystem()
        let now = Atomic<Int>(0)
        let engine = try container.engine(
            fileSystem: fileSystem, uptime: { .seconds(now.wrappingAdd(10, ordering: .relaxed).newValue) })
        try engine.configure(.fixed(.gibibytes(4)))
        let newcomer = Newcomer(ItemMetadata("key"))
        try engine.catalog.beginWriting()
        // What the item needs, and 512 KiB.
        for _ in 0..<2 { try engine.admission.reserve(100_000, ofItem: 100_000, for: newcomer) }
        let lock = CacheLayout.lock(session: engine.environment.session).string
        let first = Mutex<Thread?>(nil)
        let isAsking = DispatchSemaphore(value: 0)
        fileSystem.intercept { operation throws(FileSystemError) in
            if operation.name == CacheLayout.configuration.string {
                let isSecond = first.withLock { first in
                    first = first ?? .current
                    return first !== Thread.current
                }
                // It has found too little in memory.
                if isSecond { isAsking.signal() }
            } else if operation.kind == .write, operation.name == lock {
                _ = isAsking.wait(timeout: .now() + 1)
            }
        }
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<2 {
                group.addTask(executorPreference: BlockingExecutor()) {
                    do {
                        try engine.admission.reserve(1_000_000, ofItem: 1_000_000, for: newcomer)
                    } catch {
                        Issue.record(error)
                    }
                }
            }
        }
        #expect(engine.catalog.inMemory { $0.allowance.reserved } == 2_200_000)
        #expect(engine.catalog.inMemory { $0.allowance.free } == (4 << 20) - 2_000_000)
        fileSystem.intercept { _ in }
        engine.admission.release(2_200_000)
        try engine.maintain()
        #expect(try row() == 0)
    }

    /// What can happen to an item while its row is on its way.
    enum Change: CaseIterable {
        case removed, replaced, foundAbsent, setAside, setAsideCutShort, setAsideTwice
    }

    @Test(arguments: Change.allCases)
    func whatHappensWhileATransactionFailsIsAccountedFor(_ change: Change) throws {
        let fileSystem = InterceptingFileSystem()
        let engine = try container.engine(fileSystem: fileSystem)
        try engine.configure(.fixed(.mebibytes(64)))
        // What is stored within a transaction must not need one.
        for number in 0..<20 where engine.catalog.inMemory({ $0.allowance.free }) < 200_000 {
            try engine.store(noise(100_000), ItemKey(number: number))
        }
        try engine.flush()
        try engine.store(noise(50_000), "key")
        let before = try charged(engine)
        let isArmed = Atomic<Bool>(true)
        fileSystem.intercept { operation throws(FileSystemError) in
            guard operation.kind == .attributes, operation.name == CacheLayout.file(of: Self.key.hash).string,
                isArmed.exchange(false, ordering: .relaxed)
            else { return }
            do { try apply(change, to: engine) } catch { Issue.record(error) }
            throw FileSystemError("fstatat", errno: .ioError)
        }
        #expect(throws: CacheError.self) { try engine.flush() }
        let hasHappened = !isArmed.load(ordering: .relaxed)
        #expect(hasHappened)
        #expect(engine.catalog.inMemory { $0.allowance.unrecorded == $0.pending.storedBytes })
        try engine.flush()
        #expect(try charged(engine) <= before, "more is charged, and nothing was granted")
        try expectBooksAfterMaintenance(engine, container)
    }

    @Test(arguments: Change.allCases)
    func whatHappensBeforeARowIsWrittenIsAccountedFor(_ change: Change) throws {
        try engine.store(noise(50_000), "key")
        try apply(change, to: engine)
        #expect(engine.catalog.inMemory { $0.allowance.unrecorded == $0.pending.storedBytes })
        try expectBooksAfterMaintenance(engine, container)
    }

    @Test func anItemWhosePredecessorCannotBeRemovedIsNotStored() throws {
        let fileSystem = InterceptingFileSystem()
        let engine = try container.engine(fileSystem: fileSystem)
        try engine.store(noise(50_000), "key")
        try engine.flush()
        fileSystem.fail { $0.kind == .unlink }
        #expect(throws: CacheError.self) { try engine.store(noise(90_000), "key") }
        fileSystem.intercept { _ in }
        #expect(try engine.content("key") == noise(50_000))
        try engine.maintain()
        // The partial stays, and is charged as what was reserved for it.
        let report = try engine.capacity()
        #expect(report.heldBytes > 90_000)
        #expect(try report.chargedBytes + report.heldBytes == container.chargedOnDisk())
    }

    private static let key: ItemKey = "key"

    /// What is charged for items and held, read past what is pending.
    private func charged(_ engine: Engine) throws -> Int64 {
        let items = try engine.catalog.openedFile().read { try $0.itemBytes() }
        return items + engine.catalog.inMemory { $0.allowance.bound }
    }

    private func apply(_ change: Change, to engine: Engine) throws {
        switch change {
        case .removed: #expect(try engine.remove(Self.key))
        case .replaced: try engine.store(noise(20_000), Self.key)
        // By somebody who looked before it was stored, and tells so only now.
        case .foundAbsent: engine.catalog.noteAbsent(Self.key.hash)
        case .setAside: try ruin(Self.key, of: engine)
        case .setAsideCutShort: try ruin(Self.key, of: engine, leaving: 10_000)
        case .setAsideTwice:
            try ruin(Self.key, of: engine)
            try engine.store(noise(30_000), Self.key)
            try ruin(Self.key, of: engine)
        }
    }

    private func ruin(_ key: ItemKey, of engine: Engine, leaving length: Int = .max) throws {
        let file = container.item(key)
        var data = try Data(contentsOf: file).prefix(length)
        data[data.count / 2] ^= 1
        try data.write(to: file)
        #expect(try engine.content(key) == nil)
    }

    /// Keeps the head of the file, so that the damage is found in the middle of a transaction.
    private func ruinTheCatalog() throws {
        let length = try Data(contentsOf: container.catalog).count
        try container.catalog.overwrite(Data(repeating: 0x55, count: length - 4096), at: 4096)
    }
}
