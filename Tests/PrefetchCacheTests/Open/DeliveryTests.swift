import FileSystemTestSupport
import Foundation
import PrefetchFileSystem
import SystemPackage
import Testing

@testable import PrefetchCaching

/// Items that the user asked for: straight to their destination, or an error that says what is missing.
@Suite struct DeliveryTests {
    private let container = TemporaryContainer.make()

    @Test(arguments: [nil, 3_000_000] as [Int64?])
    func theFileIsInItsPlaceAndNeverInTheCache(expectedLength: Int64?) throws {
        let engine = try container.engine()
        let content = noise(3_000_000)
        let store = try engine.beginDelivery("asked for", expectedLength: expectedLength)
        for start in stride(from: 0, to: content.count, by: 700_000) {
            let piece = content[start..<min(start + 700_000, content.count)]
            try store.append(piece)
            #expect(try container.chargedOnDisk() == 0)
            #expect(try container.files(below: container.documents) == [])
        }
        let opened = try #require(try store.commit().delivered)
        #expect(opened.isFirstOpen)
        #expect(try Data(contentsOf: opened.url) == content)
        #expect(try container.chargedOnDisk() == 0)
        #expect(try engine.statistics().items == 0)
        #expect(try engine.open("asked for").value?.path == opened.path)
        #expect(try container.engine().open("asked for").value?.isFirstOpen == false)
        #expect(try container.staged() == [])
    }

    /// The third brings another version, which is nowhere afterwards: it is not said to be delivered.
    @Test func deliveriesOfOneKeyGiveOneFile() throws {
        let engines = try (0..<3).map { _ in try container.engine() }
        let stores = try engines.map { try $0.beginDelivery("key", expectedLength: 2_000_000) }
        var files: [PromotedFile] = []
        for (store, seed) in zip(stores, [0, 0, 1] as [UInt64]) {
            let content = noise(2_000_000, seed: seed)
            let outcome = try store.commit(appending: content)
            if case .delivered(let opened) = outcome { files.append(opened) }
            if seed == 1 { #expect(outcome == .refused(.alreadyPromoted)) }
        }
        #expect(files.map(\.isFirstOpen) == [true, false])
        #expect(files[0].path == files[1].path)
        #expect(try container.files(below: container.documents) == ["key"])
        #expect(try Data(contentsOf: files[0].url) == noise(2_000_000, seed: 0))
        #expect(try container.staged() == [])
    }

    @Test func whatADeadProcessHadStagedIsRemovedAndALivingOnesIsNot() throws {
        let fileSystem = InterceptingFileSystem()
        let living = try container.engine()
        let store = try living.beginDelivery("living", expectedLength: 2_000_000)
        do {
            let dying = try container.engine(fileSystem: fileSystem)
            let abandoned = try dying.beginDelivery("dead", expectedLength: 2_000_000)
            try abandoned.append(noise(500_000))
            fileSystem.fail { $0.kind == .unlink }
        }
        func staged() throws -> Int {
            try container.files(below: container.staging)
                .count { !$0.hasSuffix(".lock") }
        }
        #expect(try staged() == 2)
        _ = try container.engine()
        #expect(try staged() == 1)

        let outcome = try store.commit(appending: noise(2_000_000))
        let opened = try #require(outcome.delivered)
        #expect(try Data(contentsOf: opened.url) == noise(2_000_000))
        #expect(try container.staged() == [])
    }
}

/// The same on real volumes that are short of space.
@Suite(.enabled(if: SmallVolume.isPossible, "Mounting a volume needs root on Linux."), .serialized)
struct DeliveryOnSmallVolumeTests {
    private static let mebibyte: Int64 = 1 << 20

    /// - Parameter available: What there is, but for a lock file and a folder or two.
    private func expectInsufficientSpace(for needed: Int64, available: Int64, _ engine: Engine) throws {
        let error = #expect(throws: CacheError.self) {
            _ = try engine.beginDelivery("too large", expectedLength: needed)
        }
        guard case .insufficientSpace(needed, let found) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect((0...64 << 10).contains(available - found))
    }

    @Test(arguments: SmallVolume.kinds)
    func whatWasSetAsideForOneIsNotThereForAnother(kind: SmallVolume.Kind) throws {
        let volume = try SmallVolume(kind, megabytes: 200)
        let container = try TemporaryContainer(in: volume.root)
        let engine = try container.engine(probe: nil)
        try volume.leave(100 << 20)
        let first = try engine.beginDelivery("first", expectedLength: 60 << 20)
        // Not a byte of the first is written yet.
        let left = try engine.capacity().capacity.important
        #expect(left < 40 << 20)
        try expectInsufficientSpace(for: 60 << 20, available: left, engine)
        #expect(try container.staged().count == 1)
        try first.cancel()
        #expect(try container.staged() == [])
        try engine.beginDelivery("second", expectedLength: 60 << 20).cancel()
    }

    @Test(arguments: SmallVolume.kinds)
    func anItemOfUnknownLengthNeedsNoMoreThanItTakes(kind: SmallVolume.Kind) throws {
        let volume = try SmallVolume(kind, megabytes: 200)
        let container = try TemporaryContainer(in: volume.root)
        let engine = try container.engine(probe: nil)
        let low = try engine.capacity().capacity.low
        try volume.leave(low + (25 << 20))
        let store = try engine.beginDelivery("item", expectedLength: nil)
        let piece = Data(repeating: 0x61, count: 1 << 20)
        for _ in 0..<24 { try store.append(piece) }
        let error = #expect(throws: CacheError.self) {
            for _ in 0..<4 { try store.append(piece) }
        }
        // The whole content, as far as it is known, and all the space that it could have.
        guard case .insufficientSpace(let needed, let available)? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect((25 << 20...27 << 20).contains(needed) && needed % (1 << 20) == 0)
        #expect((needed - 1 << 20..<needed).contains(available))
        #expect(try container.staged() == [])
    }
}
