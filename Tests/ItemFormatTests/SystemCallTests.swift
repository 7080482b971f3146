import PrefetchItemFormat
import Testing

/// What an item costs in system calls.
@Suite struct SystemCallTests {
    static let small: [(length: Int, choice: EncodingChoice)] = [
        (0, .automatic), (1, .automatic), (16 << 10, .forced(.lz4)), (16 << 10, .forced(.identity)),
        (64 << 10, .forced(.identity)),
    ]

    @Test(arguments: small)
    func aSmallItemIsWrittenWithOneCall(length: Int, choice: EncodingChoice) throws {
        try withItemFile { file in
            let summary = try file.write(Sample.text(length), .full, encoding: choice)
            #expect(file.fileSystem.calls == [.write(offset: 0, length: Int(summary.storedBytes))])
        }
    }

    @Test(arguments: small)
    func aSmallItemIsReadWithOneCall(length: Int, choice: EncodingChoice) throws {
        try withItemFile { file in
            try file.write(Sample.text(length), .full, encoding: choice)
            file.fileSystem.forget()
            _ = try file.read()
            #expect(file.fileSystem.calls == [.read(offset: 0, length: 128 << 10)])
        }
    }

    @Test func anItemOfOneCompressedChunkIsWrittenWithOneCall() throws {
        try withItemFile { file in
            var metadata = ItemMetadata.full
            metadata.attributes = Sample.noise(ItemLimits.attributesBytes)
            let content = Sample.text(Sample.mebibyte)
            let summary = try file.write(content, metadata)
            #expect(file.fileSystem.calls == [.write(offset: 0, length: Int(summary.storedBytes))])
            #expect(try areSame(file.read().content, content))
        }
    }

    /// The first read asks for 128 KiB: a file that fills it may go on behind it.
    @Test(arguments: [-1, 0, 1])
    func aFileAboutAsLongAsTheFirstReadIsReadWhole(excess: Int) throws {
        let window = 128 << 10
        let metadata = ItemMetadata.plain()
        let footerLength = try image(of: [1], metadata).count - 1
        let content = Sample.noise(window + excess - footerLength)
        try withItemFile { file in
            let summary = try file.write(content, metadata)
            #expect(summary.storedBytes == Int64(window + excess))
            file.fileSystem.forget()
            #expect(try areSame(file.read().content, content))
            #expect((file.fileSystem.calls.count == 1) == (excess < 0))
        }
    }

    /// The end of a large file is looked at first with 4 KiB.
    @Test func aFooterLongerThanTheFirstLookIsReadWhole() throws {
        try withItemFile { file in
            var metadata = ItemMetadata.full
            metadata.attributes = Sample.noise(10_000)
            let content = Sample.noise(2 * Sample.mebibyte)
            try file.write(content, metadata)
            let item = try file.read()
            #expect(item.footer.metadata == metadata)
            #expect(areSame(item.content, content))
        }
    }

    @Test(arguments: [1, 1000, 70_000])
    func callsThatDoLessThanWasAskedAreContinued(mostPerCall: Int) throws {
        let content = Sample.text(mostPerCall == 1 ? 300 : 2 * Sample.mebibyte)
        try withItemFile(mostPerCall: mostPerCall) { file in
            try file.write(content, .full)
            #expect(try areSame(file.read().content, content))
        }
    }
}
