import Foundation
import PrefetchFileSystem
import SystemPackage
import Testing

@testable import PrefetchCaching

@Suite struct StoreAndReadTests {
    private let container = TemporaryContainer.make()
    private let engine: Engine

    init() throws { engine = try container.engine() }

    @Test(arguments: [0, 1, 4096, 100_000, 1 << 20, (5 << 20) / 2])
    func whatWasStoredIsRead(length: Int) throws {
        for (key, content) in [("text", prose(length)), ("noise", noise(length))] {
            let key = try ItemKey(key)
            try engine.store(content, key)
            #expect(try engine.content(key) == content)
        }
    }

    /// To note in the inode when a file was read takes longer than to read it.
    @Test func readingLeavesTheAccessTime() throws {
        let fileSystem = engine.environment.fileSystem
        // So long ago that the next read would be noted even with `relatime`.
        let longAgo: Int64 = 1_000_000_000
        func open(_ key: ItemKey, _ mode: OpenMode) throws -> Descriptor {
            try fileSystem.open(
                CacheLayout.file(of: key.hash), in: engine.folders.current.items.descriptor, mode)
        }
        func isNoted(_ key: ItemKey, by read: () throws -> Void) throws -> Bool {
            let file = try open(key, .readWithoutAccessTime)
            defer { fileSystem.close(file) }
            try fileSystem.setTimes(accessed: longAgo, modified: nil, of: file)
            try read()
            return try fileSystem.accessTime(of: file) != longAgo
        }
        try engine.store(prose(1000), "item")
        let isUsual = try isNoted("item") {
            let file = try open("item", .read)
            defer { fileSystem.close(file) }
            var byte: [UInt8] = [0]
            _ = try byte.withMutableBytes { bytes throws(FileSystemError) in
                try fileSystem.readAll(file, into: bytes, at: 0)
            }
        }
        // A volume may keep no such times.
        guard isUsual else { return }
        let isNotedHere = try isNoted("item") { _ = try engine.read("item", nil) }
        #expect(!isNotedHere)
    }

    @Test func aLaterStoreReplacesTheItem() throws {
        try engine.store(prose(50_000, seed: 1), "key")
        try engine.store(prose(9_000, seed: 2), "key")
        #expect(try engine.content("key") == prose(9_000, seed: 2))
        #expect(try engine.statistics().items == 1)
        #expect(try engine.statistics().chargedBytes == container.chargedOnDisk())
        #expect(try container.files(below: container.incoming).count == 1)
    }

    @Test func aRangeIsTheSliceOfTheContent() throws {
        let content = prose(3 << 20)
        try engine.store(content, "key")
        for range: Range<Int64> in [0..<1, 0..<0, (1 << 20) - 1..<(1 << 20) + 1, 5..<3_000_000] {
            let slice = content[Int(range.lowerBound)..<Int(range.upperBound)]
            #expect(try engine.read("key", range).value == slice)
        }
    }

    @Test func aRangePastTheEndIsAnError() throws {
        try engine.store(prose(100), "key")
        for range: Range<Int64> in [0..<101, 100..<102, -1..<5] {
            #expect(throws: CacheError.item(.rangeOutOfBounds(range, contentBytes: 100))) {
                try engine.read("key", range)
            }
        }
        #expect(try engine.content("key") != nil)
    }

    @Test func anItemInPiecesIsTheSameAsOneInOne() async throws {
        let cache = try await container.cache()
        let content = prose(2_500_000)
        let begun = try await cache.beginStoring(ItemMetadata("key"), expectedLength: Int64(content.count))
        let writer = try #require(begun.writer)
        var rest = content[...]
        while !rest.isEmpty {
            #expect(try await writer.write(Data(rest.prefix(77_777))) == nil)
            rest = rest.dropFirst(77_777)
        }
        #expect(try await cache.read("key") == nil)
        let summary = try #require(try await writer.commit().stored)
        #expect(summary.encoding == .lz4)
        #expect(try await cache.read("key") == content)
        await #expect(throws: CacheError.writerIsFinished) { try await writer.write(Data([1])) }
        try await cache.close()
    }

    @Test func aCancelledWriterLeavesNothing() async throws {
        let cache = try await container.cache()
        let writer = try #require(try await cache.beginStoring(ItemMetadata("key")).writer)
        #expect(try await writer.write(noise(3 << 20)) == nil)
        try await writer.cancel()
        #expect(try container.chargedOnDisk() == 0)
        #expect(try await cache.statistics().chargedBytes == 0)
        try await cache.close()
        let reopened = try await container.cache()
        #expect(try await reopened.statistics().chargedBytes == 0)
        try await reopened.close()
    }

    @Test func whatTheSinkThrowsEndsTheStream() async throws {
        struct Enough: Error {}
        let cache = try await container.cache()
        // More chunks than are decoded at once.
        try await cache.store(noise(9_000_000), as: ItemMetadata("key"))
        let pieces = CallCounter()
        await #expect(throws: Enough.self) {
            try await cache.stream("key") { _ in
                if pieces.next() == 1 { throw Enough() }
            }
        }
        #expect(pieces.next() == 2)
        try await cache.close()
    }

    @Test(.enabled(if: FileManager.default.fileExists(atPath: "/proc/cpuinfo")))
    func aFileThatDoesNotTellItsLengthIsStoredWhole() throws {
        _ = try engine.store(contentsOf: "/proc/version", as: ItemMetadata("key"), encoding: .automatic)
        #expect(try engine.content("key") == Data(contentsOf: URL(filePath: "/proc/version")))
    }

    @Test func aMissingFileIsNamedInTheError() throws {
        expectError(naming: "/no/such/file") {
            try engine.store(contentsOf: "/no/such/file", as: ItemMetadata("key"), encoding: .automatic)

        }
        #expect(try container.chargedOnDisk() == 0)
    }
}
