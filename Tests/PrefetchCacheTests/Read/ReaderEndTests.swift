import FileSystemTestSupport
import Foundation
import PrefetchFileSystem
import Synchronization
import Testing

@testable import PrefetchCaching

/// What becomes of what was only counted.
@Suite struct ReaderEndTests {
    private let container = TemporaryContainer.make()

    init() throws {
        let engine = try container.engine()
        try engine.store(noise(1000), "key")
        try engine.close()
    }

    /// Somebody was stopped while it evicted.
    @Test(arguments: [false, true]) func onlyWhoHasStoredWaitsForTheCatalogAtItsEnd(hasStored: Bool) throws {
        let milliseconds = Atomic<Int>(0)
        let engine = try container.engine(
            uptime: { .milliseconds(milliseconds.wrappingAdd(20, ordering: .relaxed).newValue) })
        #expect(try engine.content("key") == noise(1000))
        #expect(try engine.content("absent") == nil)
        if hasStored { try engine.store(noise(1000), "other") }
        let holder = try DatabaseHolder(container.catalog)
        try holder.hold(excludesReaders: true)
        let before = milliseconds.load(ordering: .relaxed)
        if hasStored {
            #expect(throws: CacheError.self) { try engine.close() }
        } else {
            try engine.close()
        }
        let waited = milliseconds.load(ordering: .relaxed) - before
        #expect(hasStored ? waited >= 5000 : waited < 1000)
        try holder.letGo()
    }

    /// Right after the transaction that counted it, the system takes the catalog away.
    @Test func whatWasCountedIsNotCountedAgain() throws {
        let fileSystem = InterceptingFileSystem()
        let engine = try container.engine(fileSystem: fileSystem)
        #expect(try engine.content("key") == noise(1000))
        #expect(try engine.content("absent") == nil)
        let catalog = container.catalog
        let writes = fileSystem.once(before: { $0.kind == .lock && $0.name == "." }) { try catalog.remove() }
        try engine.flush()
        #expect(writes.value > 0)
        let entries = try engine.history.journal(after: nil).entries
        #expect(entries.filter { $0.kind == .read }.map(\.count) == [1])
        #expect(entries.filter { $0.kind == .missed }.map(\.count) == [1])
        try engine.close()
    }

    @Test func missesOfEverNewKeysTakeNoMoreMemory() throws {
        var pending = PendingChanges()
        for number in 0..<20_000 {
            let key = try ItemKey(number: number)
            pending.absent(key.hash)
            pending.missed(key)
        }
        #expect(pending.entries.count <= 4096 && pending.misses.count <= 4096 && pending.events.isEmpty)
        var newer = PendingChanges()
        for number in 20_000..<30_000 { newer.missed(try ItemKey(number: number)) }
        _ = newer.restore(pending)
        #expect(newer.misses.count <= 4096)
    }
}
