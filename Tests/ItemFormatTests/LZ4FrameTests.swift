import Testing

@testable import PrefetchItemFormat

/// What the reader of frames accepts.
@Suite struct LZ4FrameTests {
    private let content = Sample.text(1000)

    @Test(arguments: [1, 13, 1000, 64 << 10, 1 << 20])
    func aFrameIsReadAsItWasWritten(length: Int) {
        for content in [Sample.text(length), Sample.noise(length)] {
            #expect(areSame(decompressed(frame(of: content), length) ?? [], content))
        }
    }

    /// However much of the content is noise, and at every limit around the length of its frame.
    @Test func aTrialMakesTheWholeFrameOrNone() {
        for noise in stride(from: 0, through: 2000, by: 100) {
            let content = Sample.noise(noise) + Sample.text(2000 - noise)
            let whole = frame(of: content)
            let longest = content.count - content.count / 8
            for limit in [0, LZ4Frame.overhead, longest] + (whole.count - 20...whole.count + 20) {
                let isShort = whole.count <= limit && whole.count < content.count + LZ4Frame.overhead
                #expect(frame(of: content, atMost: limit) == (isShort ? whole : nil), "\(noise), \(limit)")
            }
        }
    }

    /// All but the block, whose content has a checksum of its own, and the frame's checksum of it, which is for others.
    @Test func everyBitAroundTheBlockCounts() {
        let intact = frame(of: content)
        let tail = intact.count - 8..<intact.count - 4
        for position in Array(0..<19) + Array(tail) {
            for bit in 0..<8 {
                var frame = intact
                frame[position] ^= 1 << UInt8(bit)
                #expect(decompressed(frame, content.count) == nil, "bit \(bit) of byte \(position)")
            }
        }
    }

    /// A later writer may name another.
    @Test func anyBlockSizeIsRead() {
        var frame = frame(of: content)
        for size in UInt8(4)...7 {
            frame[5] = size << 4
            sealHeader(of: &frame)
            #expect(decompressed(frame, content.count) == content)
        }
    }

    @Test func aFrameThatClaimsAnotherLengthIsNotRead() {
        var frame = frame(of: content)
        frame[6] -= 1
        sealHeader(of: &frame)
        #expect(decompressed(frame, content.count) == nil)
    }

    @Test func aFrameOfAnotherLengthIsNotRead() {
        let frame = frame(of: content)
        for length in [0, 1, content.count - 1, content.count + 1, 2 * content.count] {
            #expect(decompressed(frame, length) == nil)
        }
        for count in 0..<frame.count {
            #expect(decompressed(Array(frame.prefix(count)), content.count) == nil)
        }
        #expect(decompressed(frame + [0], content.count) == nil)
        #expect(decompressed(frame + frame, content.count) == nil)
    }

    /// The block of a frame that is stored uncompressed has to be as long as the content.
    @Test func aStoredBlockOfAnotherLengthIsNotRead() {
        let noise = Sample.noise(1000)
        var frame = frame(of: noise)
        #expect(frame.count == noise.count + LZ4Frame.overhead)
        frame.remove(at: 500)
        frame[15] -= 1
        #expect(decompressed(frame, noise.count) == nil)
    }

    private func frame(of content: [UInt8]) -> [UInt8] {
        var frame = [UInt8](repeating: 0, count: content.count + LZ4Frame.overhead)
        let compressor = LZ4Compressor()
        let length = content.withUnsafeBytes { content in
            frame.withUnsafeMutableBytes { compressor.compress(content, into: $0) }
        }
        return Array(frame.prefix(length))
    }

    private func frame(of content: [UInt8], atMost limit: Int) -> [UInt8]? {
        var frame = [UInt8](repeating: 0, count: content.count + LZ4Frame.overhead)
        let compressor = LZ4Compressor()
        let length = content.withUnsafeBytes { content in
            frame.withUnsafeMutableBytes { compressor.compress(content, into: $0, atMost: limit) }
        }
        return length.map { Array(frame.prefix($0)) }
    }

    /// Makes the checksum of the header right again.
    private func sealHeader(of frame: inout [UInt8]) {
        frame[14] = frame.withUnsafeBytes { bytes in
            UInt8(truncatingIfNeeded: Checksum.xxh32(UnsafeRawBufferPointer(rebasing: bytes[4..<14])) >> 8)
        }
    }

    /// `nil` when the frame is not read. Fails the test when anything is written beyond `length`.
    private func decompressed(_ frame: [UInt8], _ length: Int) -> [UInt8]? {
        var output = [UInt8](repeating: 0xA5, count: length + 64)
        let isRead = frame.withUnsafeBytes { frame in
            output.withUnsafeMutableBytes { output in
                LZ4Frame.decompress(frame, into: UnsafeMutableRawBufferPointer(rebasing: output[..<length]))
            }
        }
        #expect(output[length...].allSatisfy { $0 == 0xA5 })
        return isRead ? Array(output.prefix(length)) : nil
    }
}
