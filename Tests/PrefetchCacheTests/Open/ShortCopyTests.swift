import FileSystemTestSupport
import Foundation
import PrefetchFileSystem
import SystemPackage
import Testing

@testable import PrefetchCaching

/// Items that do not compress and are short: their first open copies them where a longer one is renamed.
@Suite struct ShortCopyTests {
    private static let longest = 64 << 10
    private let container = TemporaryContainer.make()
    private let log = OperationLog()

    private func engine(on volume: SimulatedVolume? = nil) throws -> Engine {
        let log = log
        let record: @Sendable (FileSystemTestSupport.Operation) -> Void = { log.add($0) }
        guard let volume else {
            return try container.engine(
                fileSystem: InterceptingFileSystem { record($0) }, longestCopy: Int64(Self.longest))
        }
        return try container.engine(
            fileSystem: InterceptingFileSystem(on: volume) { record($0) }, probe: nil,
            longestCopy: Int64(Self.longest))
    }

    private enum Mode { case renamed, copied }

    /// How a key was opened, and whether what it became is right.
    private func mode(ofOpening key: ItemKey, _ content: Data, _ engine: Engine) throws -> Mode {
        let before = log.operations.count
        let opened = try #require(try engine.open(key).value)
        #expect(try Data(contentsOf: opened.url) == content)
        #expect(try engine.items().isEmpty)
        #expect(try container.staged() == [])
        let item = CacheLayout.file(of: key.hash).string
        let isRenamed = log.operations[before...].contains { $0.kind == .rename && $0.name == item }
        return isRenamed ? .renamed : .copied
    }

    @Test func upToALengthTheyAreCopied() throws {
        let engine = try engine()
        #expect(CacheEnvironment.live().longestCopy == Int64(Self.longest))
        for (length, expected) in [(Self.longest, Mode.copied), (Self.longest + 1, .renamed)] {
            let key = try ItemKey("\(length)")
            try engine.store(noise(length), key)
            #expect(try mode(ofOpening: key, noise(length), engine) == expected, "\(length) bytes")
        }
    }

    /// Of a quota that is used up, only a write tells.
    @Test(arguments: [false, true])
    func withoutRoomTheyAreRenamed(isQuota: Bool) throws {
        let volume = SimulatedVolume(total: 1 << 40, available: 1 << 39)
        let engine = try engine(on: volume)
        try engine.configure(.fixed(.mebibytes(64)))
        try engine.store(noise(Self.longest), "short")
        if isQuota {
            volume.limit(to: volume.used)
        } else {
            volume.takeForOthers(volume.figures.available - (1 << 17))
        }
        #expect(try mode(ofOpening: "short", noise(Self.longest), engine) == .renamed)
    }
}
