import FileSystemTestSupport
import Foundation
import ItemFormatTestSupport
import PrefetchFileSystem
import Testing

@testable import PrefetchCaching

/// What happens to items whose files are no longer what was stored: never wrong bytes.
@Suite struct MissTests {
    private let container = TemporaryContainer.make()
    private let engine: Engine
    private let key: ItemKey = "key"
    private let content = prose(200_000)

    init() throws {
        engine = try container.engine()
        try engine.store(content, key)
        try engine.flush()
    }

    @Test func anEmptiedFileIsAPurgedItem() throws {
        try Data().write(to: container.item(key))
        #expect(try engine.read(key, nil).miss == .purged)
        #expect(!container.item(key).exists)
        #expect(try engine.statistics().items == 0)
        #expect(try engine.statistics().chargedBytes == 0)
    }

    /// What is read of a file while it is emptied may be anything.
    @Test func aFileThatIsEmptiedWhileItIsReadIsAPurgedItem() throws {
        let fileSystem = InterceptingFileSystem()
        let engine = try container.engine(fileSystem: fileSystem)
        try engine.store(noise(3_000_000), key)
        let file = container.item(key).path
        let reads = CallCounter()
        fileSystem.intercept { operation in
            guard operation.path == file else { return }
            do {
                let item = try FileHandle(forUpdating: URL(filePath: file))
                // The beginning and the footer were read.
                if operation.kind == .read, reads.next() == 2 {
                    try item.write(contentsOf: Data(count: 1000))
                }
                if operation.kind == .attributes, reads.next() > 3 { try item.truncate(atOffset: 0) }
                try item.close()
            } catch {
                Issue.record(error)
            }
        }
        #expect(try engine.read(key, nil).miss == .purged)
        fileSystem.intercept { _ in }
        #expect(try engine.statistics().quarantinedItems == 0)
    }

    @Test func aFlippedByteOfContentIsAMissAndGoesToTheQuarantine() throws {
        try container.item(key).flipByte(at: 1000)
        #expect(try engine.read(key, nil).miss?.isDamage == true)
        #expect(try engine.content(key) == nil)
        #expect(try container.files(below: container.quarantine).count == 1)
        let statistics = try engine.statistics()
        #expect(statistics.items == 0)
        #expect(statistics.quarantinedItems == 1)
        #expect(try statistics.chargedBytes == container.chargedOnDisk())
        try engine.store(content, key)
        #expect(try engine.content(key) == content)
        #expect(try engine.statistics().items == 1)
    }

    @Test func anItemOfANewerVersionSurvivesARebuildAndEvictionAndIsCharged() throws {
        var newer = ForgedItem(content: [UInt8](content))
        newer.version = 2
        try Data(newer.image).write(to: container.item(key))
        #expect(try engine.read(key, nil).miss == .newerFormat(version: 2))
        try engine.close()
        try container.catalog.remove()
        let reopened = try container.engine()
        #expect(try reopened.items().isEmpty)
        #expect(try reopened.statistics().chargedBytes == container.chargedOnDisk())
        _ = try reopened.evict(.max)
        #expect(try [UInt8](Data(contentsOf: container.item(key))) == newer.image)
    }

    @Test func quarantinedFilesAreTheFirstVictims() throws {
        try container.item(key).flipByte(at: 1000)
        try engine.store(content, "good")
        #expect(try engine.content(key) == nil)
        _ = try engine.evict(1)
        #expect(try engine.statistics().quarantinedItems == 0)
        #expect(try engine.content("good") == content)
        #expect(try container.files(below: container.quarantine).isEmpty)
    }
}
