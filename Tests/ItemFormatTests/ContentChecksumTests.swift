import PrefetchItemFormat
import Testing

@Suite struct ContentChecksumTests {
    @Test(arguments: RoundTripTests.lengths)
    func piecesOfAnySizeGiveTheChecksumOfTheFooter(length: Int) throws {
        let content = Sample.noise(length)
        let expected = try read(image(of: content, .plain())).footer.contentChecksum
        for sizes in [[length + 1], [1, 65_537, 999_983], [Sample.mebibyte], [Sample.mebibyte - 1, 3]] {
            #expect(checksum(of: content, pieces: sizes) == expected)
        }
    }

    @Test func theEncodingDoesNotMatter() throws {
        let content = Sample.text(Sample.mebibyte + 100)
        let checksums = try [ItemEncoding.lz4, .identity].map { encoding in
            try read(image(of: content, .plain(), encoding: .forced(encoding))).footer.contentChecksum
        }
        #expect(checksums[0] == checksums[1])
    }

    /// Negative control: a sum that ignores what it is fed would pass the tests above.
    @Test(arguments: [0, Sample.mebibyte - 1, Sample.mebibyte, Sample.mebibyte + 99])
    func everyByteCounts(position: Int) {
        var content = Sample.noise(Sample.mebibyte + 100)
        let before = checksum(of: content, pieces: [content.count])
        content[position] ^= 1
        #expect(checksum(of: content, pieces: [content.count]) != before)
    }

    @Test func theOrderOfChunksCounts() {
        let chunks = [Sample.noise(Sample.mebibyte, seed: 1), Sample.noise(Sample.mebibyte, seed: 2)]
        let forth = checksum(of: chunks[0] + chunks[1], pieces: [1 << 21])
        let back = checksum(of: chunks[1] + chunks[0], pieces: [1 << 21])
        #expect(forth != back)
    }

    private func checksum(of content: [UInt8], pieces sizes: [Int]) -> UInt64 {
        var checksum = ContentChecksum()
        content.withUnsafeBytes { bytes in
            var done = 0
            var turn = 0
            while done < bytes.count {
                let end = min(done + sizes[turn % sizes.count], bytes.count)
                checksum.update(UnsafeRawBufferPointer(rebasing: bytes[done..<end]))
                done = end
                turn += 1
            }
        }
        return checksum.finalize()
    }
}
