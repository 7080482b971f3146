import FileSystemTestSupport
import Foundation
import PrefetchFileSystem
import Synchronization
import SystemPackage
import Testing

@testable import PrefetchCaching

/// Contract 8, when the catalog is lost: what living processes hold is known without it.
@Suite struct LostCatalogTests {
    private let container = TemporaryContainer.make(budget: .mebibytes(8))
    private let budget = ByteCount.mebibytes(8)

    private func lose(_ how: String) throws {
        let catalog = container.catalog
        switch how {
        case "deleted": try catalog.remove()
        case "damaged": try catalog.overwrite(Data(repeating: 0x55, count: 4096))
        case "newer": try catalog.execute(sql: "PRAGMA user_version = 99")
        default: break
        }
    }

    @Test(arguments: ["deleted", "damaged", "newer", "of a machine that does not tell its boot"])
    func whatALivingProcessHoldsIsNotGivenAway(how: String) throws {
        let boot = how.hasPrefix("of a machine") ? "" : "boot-1"
        let first = try container.engine(boot: boot)
        let store = try first.begin("under way", expectedLength: 6 << 20)
        try lose(how)
        let second = try container.engine(boot: boot)
        #expect(try second.store(noise(4 << 20), "late").refusal?.reason == "overBudget")
        // It goes on from memory, without a look at the catalog.
        try store.append(mebibytes: 5)
        #expect(try container.chargedOnDisk() <= budget.bytes)
        #expect(try store.commit().isStored)
        for engine in [first, second] { try engine.maintain() }
        try expectBooksLikeDisk(second, container)
    }

    @Test func whatALivingProcessHoldsInAdvanceIsNotGivenAway() throws {
        let first = try container.engine()
        for number in 0..<60 { try first.store(noise(20_000), ItemKey(number: number)) }
        let free = first.catalog.inMemory { $0.allowance.free }
        #expect(free > 0)
        try lose("deleted")
        let second = try container.engine()
        #expect(try second.capacity().heldBytes == first.catalog.inMemory { $0.allowance.bound })
        try first.maintain()
        #expect(try second.capacity().heldBytes == 0)
    }

    @Test func thePartialsOfTheDeadGoWithTheRowsThatCoveredThem() throws {
        let second = try container.engine()
        _ = try second.statistics()
        let incoming = container.incoming
        try Data().write(to: incoming.appending(path: "0123456789abcdef.lock"))
        try noise(5 << 20).write(to: incoming.appending(path: "0123456789abcdef-7"))
        try lose("deleted")
        #expect(try second.store(noise(4 << 20), "late").isStored)
        #expect(try container.chargedOnDisk() <= budget.bytes)
    }

    @Test func aGrantThatWasEnteredIntoALostFileIsDecidedAnew() throws {
        let trap = TrappedVolume()
        let engine = try container.engine(probe: trap)
        let catalog = container.catalog
        trap.spring {
            do { try catalog.remove() } catch { Issue.record(error) }
            onAnotherThread { _ = try engine.statistics() }
        }
        let store = try engine.begin("under way", expectedLength: 6 << 20)
        #expect(trap.wasSprung)
        try store.append(mebibytes: 5)
        let second = try container.engine()
        let held = engine.catalog.inMemory { $0.allowance }
        #expect(held.reserved > 6 << 20 && held.uncertain == 0)
        #expect(try second.capacity().heldBytes == held.bound)
        #expect(try second.store(noise(4 << 20), "late").refusal?.reason == "overBudget")
        #expect(try container.chargedOnDisk() <= budget.bytes)
        try store.cancel()
    }

    @Test func aGrantThatNobodyElseHasNoticedTheLossOfIsDecidedAnew() throws {
        let trap = TrappedVolume()
        let engine = try container.engine(probe: trap)
        let second = try container.engine()
        let catalog = container.catalog
        // Another process makes the file anew, and finds room.
        trap.spring {
            do {
                try catalog.remove()
                let outcome = try second.store(noise(7 << 20), "meanwhile")
                #expect(outcome.isStored)
                try second.maintain()
            } catch {
                Issue.record(error)
            }
        }
        let begun = try engine.beginStore(
            ItemMetadata("under way"), encoding: .forced(.identity), expectedLength: 6 << 20)
        if case .begun(let store) = begun {
            try store.append(mebibytes: 5)
            #expect(try container.chargedOnDisk() <= budget.bytes)
            try store.cancel()
        } else {
            Issue.record("refused beside an item that may be evicted")
        }
    }

    @Test func aGrantIsKnownToOthersBeforeItIsCertain() throws {
        let fileSystem = InterceptingFileSystem()
        let first = try container.engine(fileSystem: fileSystem)
        let second = try container.engine()
        let catalog = container.catalog
        // The last moment at which nobody can know of the grant.
        let hasBegun = fileSystem.once(before: { $0.kind == .write && $0.name.hasSuffix(".lock") }) {
            try catalog.remove()
            let outcome = try second.store(noise(4 << 20), "meanwhile")
            #expect(outcome.isStored)
            try second.maintain()
        }
        let store = try first.begin("under way", expectedLength: 6 << 20)
        #expect(hasBegun.value > 0)
        try store.append(mebibytes: 5)
        #expect(try container.chargedOnDisk() <= budget.bytes)
        try store.cancel()
    }

    @Test func rowsThatWereWrittenIntoALostFileAreWrittenAnew() throws {
        let fileSystem = InterceptingFileSystem()
        let engine = try container.engine(fileSystem: fileSystem)
        for number in 0..<20 { try engine.store(noise(10_000), ItemKey(number: number)) }
        // Rows come before that of the last item: until it has opened its journal, SQLite itself notices
        // the loss.
        #expect(engine.catalog.inMemory { $0.pending.entries.count } > 1)
        let catalog = container.catalog
        let item = CacheLayout.file(of: try ItemKey(number: 19).hash).string
        // Within the transaction, on writing the item's row.
        let hasBegun = fileSystem.once(before: { $0.kind == .attributes && $0.name == item }) {
            do { try catalog.remove() } catch { Issue.record(error) }
            onAnotherThread { _ = try engine.catalog.reading { try $0.heldBytes() } }
        }
        try engine.maintain()
        #expect(hasBegun.value > 0)
        #expect(engine.catalog.inMemory { $0.allowance.bound } == 0)
        try expectBooksLikeDisk(engine, container)
    }

    @Test func aFileThatIsOfNoUseIsNotRemovedWhenItWasReplaced() throws {
        let first = try container.engine()
        _ = try first.statistics()
        let useless = try first.catalog.openedFile()
        try lose("deleted")
        let second = try container.engine()
        _ = try second.statistics()
        let inode = try LiveFileSystem().attributes(
            of: "catalog.sqlite", in: second.folders.current.root.descriptor)?.identity
        try first.catalog.discard(useless.identity)
        #expect(
            try LiveFileSystem().attributes(
                of: "catalog.sqlite", in: second.folders.current.root.descriptor)?.identity == inode)
    }

    @Test func aBoundIsReadAsItWasWritten() throws {
        let fileSystem = LiveFileSystem()
        let folder = try container.engine().folders.current.incoming
        let file = try fileSystem.open("bound", in: folder.descriptor, .createNew(.ownerReadWrite))
        defer { fileSystem.close(file) }
        #expect(try WriterBound(of: file, in: fileSystem).bytes == 0, "a writer that holds nothing yet")
        for bytes in [0, 1, 1 << 40, .max] as [Int64] {
            try fileSystem.writeAll(WriterBound(bytes).image, to: file, at: 0)
            #expect(try WriterBound(of: file, in: fileSystem).bytes == bytes)
        }
        try fileSystem.writeAll([1, 2, 3], to: file, at: 3)
        #expect(throws: FileSystemError.self) { try WriterBound(of: file, in: fileSystem) }
    }
}

/// A volume with space in plenty on which something happens at the second look: the first is the one
/// before a transaction.
private final class TrappedVolume: VolumeProbing {
    private struct State {
        var looks = 0
        var action: (@Sendable () -> Void)?
        var wasSprung = false
    }

    private let state = Mutex(State())

    func spring(_ action: @escaping @Sendable () -> Void) { state.withLock { $0.action = action } }

    var wasSprung: Bool { state.withLock { $0.wasSprung } }

    func state(of _: Descriptor) -> VolumeState {
        let action: (@Sendable () -> Void)? = state.withLock { state in
            state.looks += 1
            guard state.looks == 2 else { return nil }
            state.wasSprung = true
            return state.action
        }
        action?()
        return VolumeState(total: 1 << 40, available: 1 << 39)
    }
}
