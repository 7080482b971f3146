import FileSystemTestSupport
import PrefetchItemFormat
import PrefetchStorageAreas
import Testing

/// Space is reserved for the bound before the encoding is known: no item may be longer.
@Suite struct StoredLengthBoundTests {
    @Test(arguments: 1...20 as ClosedRange<UInt64>, [ItemEncoding.lz4, .identity])
    func noItemIsLongerThanItsBound(seed: UInt64, encoding: ItemEncoding) throws {
        var generator = SeededGenerator(seed: seed)
        let content = Self.content(&generator)
        let metadata = try Self.metadata(&generator)
        let bound = ItemFooter.storedBytesBound(contentBytes: Int64(content.count), metadata: metadata)
        for choice in [EncodingChoice.forced(encoding), .automatic] {
            let length = try image(of: content, metadata, encoding: choice).count
            #expect(length <= bound)
        }
    }

    /// The bound is not just large: what does not compress and is forced into frames needs it all.
    @Test(arguments: [0, 1, 1000, Sample.mebibyte, Sample.mebibyte + 1, 3 * Sample.mebibyte])
    func theWorstItemIsAsLongAsItsBound(length: Int) throws {
        let metadata = ItemMetadata.full
        let worst = try image(of: Sample.noise(length), metadata, encoding: .forced(.lz4)).count
        #expect(
            ItemFooter.storedBytesBound(contentBytes: Int64(length), metadata: metadata) == Int64(worst))
    }

    /// Lengths come from servers.
    @Test(arguments: [(64 << 30) + 1, .max - 1, .max] as [Int64])
    func aLengthThatNoItemHasIsNeverAffordable(length: Int64) throws {
        let metadata = ItemMetadata.full
        #expect(ItemFooter.storedBytesBound(contentBytes: length, metadata: metadata) == .max)
    }

    @Test func theLongestItemHasAFooterWithinItsBounds() throws {
        var metadata = ItemMetadata.full
        metadata.attributes = Array(repeating: 0, count: ItemLimits.attributesBytes)
        let content = ItemLimits.contentBytes
        let bound = ItemFooter.storedBytesBound(contentBytes: content, metadata: metadata)
        let frames = (content >> 20) * 27
        #expect(bound > content)
        #expect(bound - content - frames <= Int64(ItemLimits.footerBytes))
    }

    private static func content(_ generator: inout SeededGenerator) -> [UInt8] {
        let noise = Sample.noise(Int.random(in: 0...1_300_000, using: &generator), seed: generator.next())
        let text = Sample.text(Int.random(in: 0...1_300_000, using: &generator), seed: generator.next())
        return Bool.random(using: &generator) ? noise + text : text + noise
    }

    private static func metadata(_ generator: inout SeededGenerator) throws -> ItemMetadata {
        func text(_ limit: Int) -> String {
            String(repeating: "é", count: Int.random(in: 0...limit / 2, using: &generator))
        }
        return ItemMetadata(
            key: try ItemKey("k" + text(1000)), source: text(1024),
            destination: .documents(try FileName("n" + text(200))),
            validator: Validator(entityTag: text(4096), lastModified: text(4096)),
            attributes: Sample.noise(Int.random(in: 0...65_536, using: &generator)))
    }
}
