import PrefetchItemFormat
import Testing

@Suite struct GoldenFileTests {
    @Test(arguments: GoldenItem.all)
    func whatVersion1WroteIsRead(golden: GoldenItem) throws {
        try expect(read(golden.image()), golden)
    }

    /// Not the same bytes: another liblz4 may find other matches.
    @Test(arguments: GoldenItem.all)
    func whatIsWrittenTodayReadsTheSame(golden: GoldenItem) throws {
        try expect(
            read(image(of: golden.content, golden.metadata, encoding: .forced(golden.encoding))), golden)
    }

    @Test(arguments: GoldenItem.all.filter { $0.encoding == .identity })
    func withoutCompressionTheSameBytesAreWritten(golden: GoldenItem) throws {
        let today = try image(of: golden.content, golden.metadata, encoding: .forced(.identity))
        #expect(try today == golden.image())
    }

    private func expect(_ item: Item, _ golden: GoldenItem) {
        #expect(areSame(item.content, golden.content))
        #expect(item.footer.encoding == golden.encoding)
        #expect(item.footer.contentBytes == Int64(golden.content.count))
        #expect(item.footer.contentChecksum == golden.contentChecksum)
        #expect(item.footer.chunks.count == golden.chunkCount)

        let metadata = item.footer.metadata
        #expect(metadata.key == golden.metadata.key)
        #expect(metadata.source == golden.metadata.source)
        #expect(metadata.intent == golden.metadata.intent)
        #expect(metadata.destination == golden.metadata.destination)
        #expect(metadata.validator == golden.metadata.validator)
        #expect(metadata.priority == golden.metadata.priority)
        #expect(metadata.storedAt == golden.metadata.storedAt)
        #expect(metadata.expiresAt == golden.metadata.expiresAt)
        #expect(metadata.attributes == golden.metadata.attributes)
    }
}
