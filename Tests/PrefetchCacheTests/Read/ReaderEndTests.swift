import FileSystemTestSupport
import Foundation
import GRDB
import PrefetchFileSystem
import Synchronization
import SystemPackage
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

    /// As of a process that was stopped while it evicted.
    private func holder() throws -> DatabaseQueue {
        var configuration = Configuration()
        configuration.allowsUnsafeTransactions = true
        let holder = try DatabaseQueue(path: container.catalog.path, configuration: configuration)
        try holder.writeWithoutTransaction { try $0.execute(sql: "BEGIN EXCLUSIVE") }
        return holder
    }

    @Test func whoHasOnlyReadDoesNotWaitForTheCatalogAtItsEnd() throws {
        let milliseconds = Atomic<Int>(0)
        let engine = try container.engine(
            uptime: { .milliseconds(milliseconds.wrappingAdd(20, ordering: .relaxed).newValue) })
        #expect(try engine.content("key") == noise(1000))
        #expect(try engine.content("absent") == nil)
        let holder = try holder()
        let before = milliseconds.load(ordering: .relaxed)
        try engine.close()
        let waited = milliseconds.load(ordering: .relaxed) - before
        #expect(waited < 1000)
        try holder.writeWithoutTransaction { try $0.execute(sql: "ROLLBACK") }
    }

    @Test func whoHasStoredDoes() throws {
        let milliseconds = Atomic<Int>(0)
        let engine = try container.engine(
            uptime: { .milliseconds(milliseconds.wrappingAdd(20, ordering: .relaxed).newValue) })
        try engine.store(noise(1000), "other")
        let holder = try holder()
        let before = milliseconds.load(ordering: .relaxed)
        #expect(throws: CacheError.self) { try engine.close() }
        let waited = milliseconds.load(ordering: .relaxed) - before
        #expect(waited >= 5000)
        try holder.writeWithoutTransaction { try $0.execute(sql: "ROLLBACK") }
    }

    /// Right after the transaction that counted it, the system takes the catalog away.
    @Test func whatWasCountedIsNotCountedAgain() throws {
        let fileSystem = InterceptingFileSystem()
        let engine = try container.engine(fileSystem: fileSystem)
        #expect(try engine.content("key") == noise(1000))
        #expect(try engine.content("absent") == nil)
        let catalog = container.catalog
        let isPurged = Mutex(false)
        fileSystem.intercept { operation in
            guard operation.kind == .write, operation.name == "history",
                isPurged.withLock({ isPurged in
                    defer { isPurged = true }
                    return !isPurged
                })
            else { return }
            do { try catalog.remove() } catch { Issue.record(error) }
        }
        try engine.flush()
        let hasHappened = isPurged.withLock { $0 }
        #expect(hasHappened)
        let entries = try engine.history.journal.read(after: nil).entries
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
