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
