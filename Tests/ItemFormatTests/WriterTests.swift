import FileSystemTestSupport
import PrefetchStorageAreas
import Testing

@testable import PrefetchItemFormat

@Suite struct EncodingTrialTests {
    @Test(arguments: [1000, 200_000, Sample.mebibyte, 3 * Sample.mebibyte])
    func textIsCompressed(length: Int) throws {
        try withItemFile { file in
            let summary = try file.write(Sample.text(length), .plain())
            #expect(summary.encoding == .lz4)
            #expect(summary.storedBytes < summary.contentBytes)
        }
    }

    @Test(arguments: [0, 1, 1000, 200_000, Sample.mebibyte, 3 * Sample.mebibyte])
    func noiseIsStoredAsItIs(length: Int) throws {
        let content = Sample.noise(length)
        try withItemFile { file in
            let summary = try file.write(content, .plain())
            #expect(summary.encoding == .identity)
            #expect(try areSame(Array(file.image().prefix(length)), content))
        }
    }

    /// More and more of the content is noise, until LZ4 saves less than an eighth.
    @Test func savingExactlyOneEighthIsEnough() throws {
        let length = 8000
        var verdicts: [Int: ItemEncoding] = [:]
        for noise in 6900...7000 {
            let content = Sample.noise(noise) + [UInt8](repeating: 0, count: length - noise)
            let frame = try withItemFile { file in
                try file.write(content, .plain(), encoding: .forced(.lz4))
                return try Int(file.reader().footer.chunks[0].storedBytes)
            }
            verdicts[frame] = try withItemFile { try $0.write(content, .plain()).encoding }
        }
        #expect(verdicts[7000] == .lz4)
        #expect(verdicts[7001] == .identity)
        for (frame, encoding) in verdicts {
            #expect(encoding == (frame <= 7000 ? .lz4 : .identity), "a frame of \(frame) bytes")
        }
    }

    @Test func theFirstChunkDecidesForAll() throws {
        let text = Sample.text(Sample.mebibyte)
        let noise = Sample.noise(Sample.mebibyte)
        try withItemFile { file in
            let summary = try file.write(text + noise, .plain())
            #expect(summary.encoding == .lz4)
            #expect(try areSame(file.read().content, text + noise))
        }
        try withItemFile { file in
            let summary = try file.write(noise + text, .plain())
            #expect(summary.encoding == .identity)
            #expect(try areSame(file.read().content, noise + text))
        }
    }

    /// What repeats random bytes could be compressed, and is not tried.
    @Test func contentThatLooksRandomIsNotTried() throws {
        // None of the bytes that are sampled of one is sampled of the other.
        let block = Sample.noise(10_000)
        let content = block + block
        let compressed = try withItemFile { try $0.write(content, .plain(), encoding: .forced(.lz4)) }
        #expect(compressed.storedBytes < 12_000)
        let stored = try withItemFile { try $0.write(content, .plain()) }
        #expect(stored.encoding == .identity)
    }

    @Test(arguments: [4096, 5000, 16384, 65536, Sample.mebibyte])
    func onlyRandomBytesLookRandom(length: Int) {
        func looksRandom(_ content: [UInt8]) -> Bool {
            content.withUnsafeBytes { ByteSample.looksRandom($0) }
        }
        let noise = Sample.noise(length)
        #expect(looksRandom(noise))
        #expect(!looksRandom(Sample.text(length)))
        #expect(!looksRandom([UInt8](repeating: 7, count: length)))
        #expect(!looksRandom(noise.map { $0 & 63 }), "as in Base64")
        #expect(!looksRandom(noise.indices.map { $0 % 2 == 0 ? noise[$0] : 0 }), "small numbers of 16 bits")
        for record in [64, 256, 4096] {
            let records = noise.indices.map { $0 % record < 16 ? noise[$0] : 0 }
            #expect(!looksRandom(records), "a number of 16 bytes, and zeros, in each \(record)")
        }
        // Of less, too little is left out for the sample to be unlike random bytes.
        if length > 5000 {
            #expect(!looksRandom(noise.indices.map { UInt8(truncatingIfNeeded: $0) }), "counting upwards")
        }
        #expect(!looksRandom(Array(noise.prefix(4095))), "too short to be worth it")
    }
}

/// The writer asks before each write.
@Suite struct AdmissionTests {
    private struct NotAdmitted: Error {}

    static let samples: [(length: Int, choice: EncodingChoice)] = [
        (0, .automatic), (1000, .automatic), (1000, .forced(.identity)), (200_000, .forced(.identity)),
        (7 * Sample.mebibyte / 2, .forced(.lz4)), (7 * Sample.mebibyte / 2, .forced(.identity)),
    ]

    @Test(arguments: samples)
    func everyWriteIsAdmittedWithTheLengthItLeadsTo(length: Int, choice: EncodingChoice) throws {
        try withItemFile { file in
            var admitted: [Int64] = []
            let writer = try file.writer(.full, encoding: choice, parallelism: 2) { length in
                // One answer, one write.
                #expect(file.fileSystem.calls.count == admitted.count)
                admitted.append(length)
            }
            let summary = try Sample.text(length).withUnsafeBytes { try writer.finish(appending: $0) }

            let ends = file.fileSystem.calls.map { call -> Int64? in
                guard case .write(let offset, let length) = call else { return nil }
                return offset + Int64(length)
            }
            #expect(ends == admitted)
            #expect(admitted.last == summary.storedBytes)
        }
    }

    @Test(arguments: samples)
    func nothingIsWrittenThatWasNotAdmitted(length: Int, choice: EncodingChoice) throws {
        try withItemFile { file in
            let writer = try file.writer(.full, encoding: choice) { _ in throw NotAdmitted() }
            #expect(throws: NotAdmitted.self) {
                try Sample.text(length).withUnsafeBytes { _ = try writer.finish(appending: $0) }
            }
            #expect(file.fileSystem.calls.isEmpty)
        }
    }

    @Test(arguments: [EncodingChoice.forced(.lz4), .forced(.identity)])
    func theFileStaysWithinWhatWasAdmitted(choice: EncodingChoice) throws {
        let budget = Int64(1_200_000)
        try withItemFile { file in
            let writer = try file.writer(.full, encoding: choice, parallelism: 4) {
                length in
                if length > budget { throw NotAdmitted() }
            }
            #expect(throws: NotAdmitted.self) {
                try Sample.noise(3 * Sample.mebibyte).withUnsafeBytes { try writer.append($0) }
            }
            let length = try file.image().count
            #expect(length > 0)
            #expect(length <= budget)
        }
    }
}

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
