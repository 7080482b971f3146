import ItemFormatTestSupport
import PrefetchItemFormat
import Testing

/// Footers with right checksums and wrong claims, as only malice or a faulty writer makes them.
@Suite struct ForgedItemTests {
    private static let content = Sample.text(1000)

    /// Negative control for this suite, and a description of the format that does not share a line
    /// with the writer.
    @Test func anHonestForgeryIsWhatTheWriterWrites() throws {
        let forged = ForgedItem(content: Self.content).image
        #expect(try forged == image(of: Self.content, .plain(), encoding: .forced(.identity)))
        #expect(try read(forged).content == Self.content)
    }

    @Test(arguments: Forgery.fields)
    func aFooterWithWrongFieldsIsDamaged(forgery: Forgery) throws {
        #expect(try failure(reading: forgery.image(of: Self.content)) == .damaged(.footerFields))
    }

    @Test(arguments: Forgery.chunkTables)
    func aChunkTableThatDoesNotFitIsDamaged(forgery: Forgery) throws {
        #expect(try failure(reading: forgery.image(of: Self.content)) == .damaged(.chunkTable))
    }

    @Test(arguments: Forgery.trailers)
    func aTrailerThatLeadsAstrayIsDamaged(forgery: Forgery) throws {
        #expect(try failure(reading: forgery.image(of: Self.content)) == .damaged(.trailer))
    }

    /// Every chunk may claim 4 GiB, and the sum must not overflow.
    @Test func aFooterFullOfTheLongestChunksIsDamaged() throws {
        var forged = ForgedItem(content: Self.content)
        forged.setChunks(Array(repeating: (storedBytes: .max, checksum: 0), count: 80_000))
        forged.contentBytes = 80_000 << 20
        #expect(try failure(reading: forged.image) == .damaged(.chunkTable))
    }

    /// No claim leads to a read that is longer than the first look at any file.
    @Test(arguments: Forgery.fields + Forgery.chunkTables + Forgery.trailers)
    func noClaimMakesTheReaderAskForMuch(forgery: Forgery) throws {
        try withItemFile { file in
            try file.replace(with: forgery.image(of: Self.content))
            _ = try file.failure()
            for case .read(_, let length) in file.fileSystem.calls { #expect(length <= 128 << 10) }
        }
    }
}
