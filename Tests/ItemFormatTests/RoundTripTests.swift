import ItemFormatTestSupport
import PrefetchItemFormat
import Testing

@Suite struct RoundTripTests {
    static let lengths = [
        0, 1, Sample.mebibyte - 1, Sample.mebibyte, Sample.mebibyte + 1, 7 * Sample.mebibyte / 2,
    ]
    static let choices: [EncodingChoice] = [.automatic, .forced(.lz4), .forced(.identity)]

    @Test(arguments: lengths, choices)
    func textComesBackAsItWas(length: Int, choice: EncodingChoice) throws {
        try expectRoundTrip(of: Sample.text(length), choice)
    }

    @Test(arguments: lengths, choices)
    func noiseComesBackAsItWas(length: Int, choice: EncodingChoice) throws {
        try expectRoundTrip(of: Sample.noise(length), choice)
    }

    private func expectRoundTrip(of content: [UInt8], _ choice: EncodingChoice) throws {
        try withItemFile { file in
            let summary = try file.write(content, .plain(), encoding: choice, parallelism: 2)
            if case .forced(let encoding) = choice { #expect(summary.encoding == encoding) }
            #expect(summary.contentBytes == Int64(content.count))
            #expect(try summary.storedBytes == Int64(file.image().count))

            for parallelism in [1, 4] {
                let item = try file.read(parallelism: parallelism)
                #expect(areSame(item.content, content))
                #expect(item.footer.contentBytes == summary.contentBytes)
                #expect(item.footer.storedBytes == summary.storedBytes)
                #expect(item.footer.encoding == summary.encoding)
            }
        }
    }

    @Test(arguments: lengths)
    func streamingHandsOutTheContentInOrder(length: Int) throws {
        let content = Sample.text(length)
        try withItemFile { file in
            try file.write(content, .plain())
            var streamed: [UInt8] = []
            try file.reader(parallelism: 2).stream(0..<Int64(length)) { streamed += Array($0) }
            #expect(areSame(streamed, content))
        }
    }
}
