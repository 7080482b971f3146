import FileSystemTestSupport
import Foundation
import PrefetchFileSystem
import Testing

@testable import PrefetchCaching

/// What happens to items whose files are no longer what was stored: never wrong bytes.
@Suite struct MissTests {
    private let container: TemporaryContainer
    private let engine: Engine
    private let key: ItemKey = "key"
    private let content = prose(200_000)

    init() throws {
        container = try TemporaryContainer()
        engine = try container.engine()
        try engine.store(content, key)
        try engine.flush()
    }

    private func change(_ body: (inout Data) -> Void) throws {
        var data = try Data(contentsOf: container.item(key))
        body(&data)
        try data.write(to: container.item(key))
    }

    @Test func anUntouchedItemIsAHit() throws {
        #expect(try engine.content(key) == content)
    }

    @Test func anEmptiedFileIsAPurgedItem() throws {
        try change { $0 = Data() }
        guard case .miss(.purged) = try engine.read(key, nil) else { Issue.record("not purged"); return }
        #expect(!FileManager.default.fileExists(atPath: container.item(key).path))
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
        guard case .miss(.purged) = try engine.read(key, nil) else { Issue.record("not purged"); return }
        fileSystem.intercept { _ in }
        #expect(try engine.statistics().quarantinedItems == 0)
    }

    @Test func aFlippedByteOfContentIsAMissAndGoesToTheQuarantine() throws {
        try change { $0[1000] ^= 1 }
        guard case .miss(.damaged) = try engine.read(key, nil) else { Issue.record("not damaged"); return }
        #expect(try engine.content(key) == nil)
        #expect(try container.files(below: container.caches.appending(path: "quarantine")).count == 1)
        let statistics = try engine.statistics()
        #expect(statistics.items == 0)
        #expect(statistics.quarantinedItems == 1)
        #expect(try statistics.chargedBytes == container.chargedOnDisk())
    }

    @Test func aDamagedItemThatNoRowAccountedForStaysInTheBudget() throws {
        let fresh: ItemKey = "fresh"
        try engine.store(content, fresh)
        var data = try Data(contentsOf: container.item(fresh))
        data[1000] ^= 1
        try data.write(to: container.item(fresh))
        #expect(try engine.content(fresh) == nil)
        let statistics = try engine.statistics()
        #expect(try statistics.chargedBytes == container.chargedOnDisk())
    }

    @Test func aTruncatedFileIsNeverServed() throws {
        try change { $0 = $0.prefix($0.count / 2) }
        #expect(try engine.content(key) == nil)
    }

    @Test func theItemOfAnotherKeyIsNotServed() throws {
        let other: ItemKey = "other"
        try engine.store(prose(500, seed: 9), other)
        try FileManager.default.removeItem(at: container.item(key))
        try FileManager.default.createDirectory(
            at: container.item(key).deletingLastPathComponent(), withIntermediateDirectories: true)
        try FileManager.default.copyItem(at: container.item(other), to: container.item(key))
        guard case .miss(.damaged(.damaged(.key))) = try engine.read(key, nil) else {
            Issue.record("served")
            return
        }
        #expect(try engine.content(other) == prose(500, seed: 9))
    }

    @Test func aDamagedItemCanBeStoredAgain() throws {
        try change { $0[1000] ^= 1 }
        #expect(try engine.content(key) == nil)
        try engine.store(content, key)
        #expect(try engine.content(key) == content)
        #expect(try engine.statistics().items == 1)
    }

    @Test func aDamagedItemIsNotPromoted() throws {
        try change { $0[1000] ^= 1 }
        guard case .miss(.damaged) = try engine.open(key) else { Issue.record("promoted"); return }
        #expect(try container.files(below: container.documents).isEmpty)
        #expect(
            try container.files(below: container.support.appending(path: "staging")).allSatisfy {
                $0.hasSuffix(".lock")
            })
    }

    @Test func anItemOfANewerVersionIsLeftAlone() throws {
        let before = try newerVersion()
        guard case .miss(.newerFormat(let version)) = try engine.read(key, nil) else {
            Issue.record("not recognised")
            return
        }
        #expect(version == 2)
        #expect(try Data(contentsOf: container.item(key)) == before)
        guard case .miss(.newerFormat) = try engine.open(key) else { Issue.record("opened"); return }
        #expect(try Data(contentsOf: container.item(key)) == before)
    }

    @Test func anItemOfANewerVersionSurvivesARebuildAndEvictionAndIsCharged() throws {
        let before = try newerVersion()
        try engine.close()
        try FileManager.default.removeItem(at: container.catalog)
        let reopened = try container.engine()
        #expect(try reopened.items().isEmpty)
        #expect(try reopened.statistics().chargedBytes == container.chargedOnDisk())
        _ = try reopened.evict(.max)
        #expect(try Data(contentsOf: container.item(key)) == before)
    }

    /// Makes the item one of version 2, with a right checksum.
    private func newerVersion() throws -> Data {
        try change { data in
            data[data.count - 20] = 2
            let length = data.dropFirst(data.count - 24).prefix(4).reversed().reduce(0) { $0 << 8 | Int($1) }
            let footer = [UInt8](data.suffix(length).dropLast(16))
            let checksum = footer.withUnsafeBytes { Checksum.of($0) }
            withUnsafeBytes(of: checksum.littleEndian) {
                data.replaceSubrange(data.count - 16..<data.count - 8, with: $0)
            }
        }
        return try Data(contentsOf: container.item(key))
    }

    @Test func quarantinedFilesAreTheFirstVictims() throws {
        try change { $0[1000] ^= 1 }
        try engine.store(content, "good")
        #expect(try engine.content(key) == nil)
        _ = try engine.evict(1)
        #expect(try engine.statistics().quarantinedItems == 0)
        #expect(try engine.content("good") == content)
        #expect(try container.files(below: container.caches.appending(path: "quarantine")).isEmpty)
    }
}
