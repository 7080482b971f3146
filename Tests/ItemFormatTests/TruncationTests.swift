import PrefetchItemFormat
import Testing

@Suite struct TruncationTests {
    @Test(arguments: [ItemEncoding.lz4, .identity])
    func anItemCutShortIsAMiss(encoding: ItemEncoding) throws {
        let image = try image(of: Sample.text(300), .full, encoding: .forced(encoding))
        try withItemFile { file in
            for length in 0..<image.count {
                try file.replace(with: Array(image.prefix(length)))
                let error = try file.failure()
                #expect(error == (length < 32 ? .purged : .damaged(.trailer)), "\(length) bytes")
            }
            // Negative control: it is the cut that made the difference.
            try file.replace(with: image)
            #expect(try file.failure() == nil)
        }
    }

    /// A power cut may leave the length and lose the bytes.
    @Test(arguments: [32, 1000, 300_000])
    func zeroesAreDamaged(length: Int) throws {
        #expect(try failure(reading: [UInt8](repeating: 0, count: length)) == .damaged(.trailer))
    }

    @Test(arguments: [1, 31, 32, 33, 4096, 300_000])
    func anythingBehindTheItemIsDamage(length: Int) throws {
        let image = try image(of: Sample.text(300), .full)
        #expect(try failure(reading: image + Sample.noise(length)) == .damaged(.trailer))
    }

    @Test func twoItemsInOneFileAreDamaged() throws {
        let image = try image(of: Sample.text(300), .full)
        #expect(try failure(reading: image + image) == .damaged(.footerFields))
    }

    @Test(arguments: [(0, ItemFormatError.purged), (1000, .damaged(.chunkContent))])
    func aFileThatShrinksUnderTheReaderIsAMiss(length: Int, error: ItemFormatError) throws {
        try withItemFile { file in
            try file.write(Sample.noise(Sample.mebibyte), .plain())
            let reader = try file.reader()
            var buffer = [UInt8](repeating: 0, count: Sample.mebibyte)
            try buffer.withUnsafeMutableBytes { buffer in
                try reader.read(0..<Int64(buffer.count), into: buffer)
                try file.replace(with: Sample.noise(length))
                // What the buffer holds from before must not pass for what was read.
                #expect(throws: error) {
                    try reader.read(0..<Int64(buffer.count), into: buffer)
                }
            }
        }
    }
}
