import ItemFormatTestSupport
import PrefetchItemFormat
import Testing

/// An item of any length passes through a few chunks of memory.
@Suite struct BoundedMemoryTests {
    private static let length = 64 << 20

    @Test(arguments: [ItemEncoding.lz4, .identity], [1, 4])
    func noSingleCallIsLongerThanTheChunksAtWork(encoding: ItemEncoding, parallelism: Int) throws {
        let bound = parallelism * Sample.mebibyte + (64 << 10)
        let piece = Sample.text(5 * Sample.mebibyte + 1)
        try withItemFile { file in
            let writer = try file.writer(.plain(), encoding: .forced(encoding), parallelism: parallelism)
            while writer.contentBytes < Int64(Self.length) {
                let count = min(piece.count, Self.length - Int(writer.contentBytes))
                try piece[..<count].withUnsafeBytes { try writer.append($0) }
            }
            _ = try writer.finish()

            let reader = try file.reader(parallelism: parallelism)
            var position = 0
            var isSame = true
            try reader.stream(0..<Int64(Self.length)) { bytes in
                #expect(bytes.count <= parallelism * Sample.mebibyte)
                // One byte of each chunk will do: contents are the business of other tests.
                isSame = isSame && bytes[0] == piece[position % piece.count]
                position += bytes.count
            }
            #expect(isSame)
            #expect(position == Self.length)

            for call in file.fileSystem.calls {
                switch call {
                case .read(_, let length), .write(_, let length): #expect(length <= bound)
                case .attributes: break
                }
            }
            #expect(file.fileSystem.calls.count > Self.length / bound)
        }
    }
}
