import FileSystemTestSupport
import ItemFormatTestSupport
import PrefetchItemFormat
import Testing

@Suite struct RangeReadTests {
    static let encodings: [ItemEncoding] = [.lz4, .identity]

    @Test(arguments: encodings, [1, 4])
    func everyRangeAroundTheEdgesOfChunksIsThatSlice(encoding: ItemEncoding, parallelism: Int) throws {
        let chunk = Sample.mebibyte
        let content = Sample.text(3 * chunk + chunk / 2)
        let edges = [0, chunk, 2 * chunk, 3 * chunk, content.count]
        let bounds = Set(edges.flatMap { [$0 - 1, $0, $0 + 1] }).filter((0...content.count).contains).sorted()
        try withItemFile { file in
            try file.write(content, .plain(), encoding: .forced(encoding))
            let reader = try file.reader(parallelism: parallelism)
            for lower in bounds {
                for upper in bounds where upper >= lower {
                    try expect(lower..<upper, of: content, from: reader)
                }
            }
        }
    }

    @Test(arguments: encodings, [20_000, 2_500_000])
    func anyRangeIsThatSlice(encoding: ItemEncoding, length: Int) throws {
        let content = Sample.text(length)
        var generator = SeededGenerator(seed: 42)
        try withItemFile { file in
            try file.write(content, .plain(), encoding: .forced(encoding))
            let reader = try file.reader(parallelism: 2)
            for _ in 0..<100 {
                let bounds = (0..<2).map { _ in Int.random(in: 0...length, using: &generator) }.sorted()
                try expect(bounds[0]..<bounds[1], of: content, from: reader)
            }
        }
    }

    private func expect(_ range: Range<Int>, of content: [UInt8], from reader: ItemReader) throws {
        let slice = Array(content[range])
        let range = Int64(range.lowerBound)..<Int64(range.upperBound)
        #expect(try areSame(reader.bytes(range), slice), "\(range) read")

        var streamed: [UInt8] = []
        try reader.stream(range) { streamed += Array($0) }
        #expect(areSame(streamed, slice), "\(range) streamed")
    }

    @Test(arguments: [0..<1001, -1..<10, 1000..<1001, 1001..<1001, Int64.max - 1..<Int64.max, -5 ..< -5])
    func aRangeThatIsNotWithinTheContentIsRefused(range: Range<Int64>) throws {
        try withItemFile { file in
            try file.write(Sample.text(1000), .plain())
            let reader = try file.reader()
            let error = ItemFormatError.rangeOutOfBounds(range, contentBytes: 1000)
            #expect(throws: error) { try reader.bytes(range) }
            #expect(throws: error) { try reader.stream(range) { _ in Issue.record("something came") } }
        }
    }

    @Test func anEmptyRangeWithinTheContentIsNoBytes() throws {
        try withItemFile { file in
            try file.write(Sample.text(1000), .plain())
            let reader = try file.reader()
            for position in [0, 500, 1000] as [Int64] {
                #expect(try reader.bytes(position..<position).isEmpty)
            }
        }
    }
}
