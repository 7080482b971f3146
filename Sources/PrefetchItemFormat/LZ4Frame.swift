internal import PrefetchFileSystem

#if canImport(Darwin)
    internal import Compression
#else
    internal import CPrefetchLZ4
#endif

/// Standard LZ4 frames with content size and content checksum, one per chunk, each with a single independent block.
///
/// Their blocks are those of liblz4 on Linux, and of the Compression framework on Apple platforms. Each decompresses what the
/// other has compressed.
///
/// With the blocks of liblz4 they are byte-identical to the output of `LZ4F_compressFrame` with the same settings. That
/// function is not used because the XXH32 inside liblz4 is six times slower than that of libxxhash, which makes it a
/// quarter of the total compression time.
enum LZ4Frame {
    /// Magic number, descriptor and descriptor checksum.
    fileprivate static let headerLength = 15
    /// Where the block begins: the header, and the length of the block (4).
    fileprivate static let blockStart = headerLength + 4
    /// The end mark (4) and the content checksum (4).
    fileprivate static let tailLength = 8
    /// The bytes that a frame adds to an incompressible chunk.
    static let overhead = blockStart + tailLength

    fileprivate static let magic: UInt32 = 0x184D_2204
    /// Version 1, independent blocks, content size, content checksum.
    fileprivate static let flags: UInt8 = 0b0110_1100
    /// Marks a block that is stored uncompressed, in the word of its length.
    fileprivate static let isStored: UInt32 = 1 << 31

    /// The checksum of the descriptor in a header.
    fileprivate static func headerChecksum(_ frame: UnsafeRawBufferPointer) -> UInt8 {
        UInt8(truncatingIfNeeded: Checksum.xxh32(frame.slice(4..<headerLength - 1)) >> 8)
    }

    /// Decompresses one whole frame, which must fill `output` exactly. Skips the frame's own 32-bit checksum: the
    /// caller verifies the 64-bit one of the chunk table, which is cheaper. Returns whether the frame was well-formed
    /// and of that length.
    static func decompress(_ frame: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer)
        -> Bool
    {
        guard frame.count > overhead, frame.word(at: 0) == magic, frame[4] == flags,
            frame.loadUnaligned(fromByteOffset: 6, as: UInt64.self).littleEndian == UInt64(output.count),
            frame[headerLength - 1] == headerChecksum(frame)
        else { return false }
        let block = frame.slice(blockStart..<frame.count - tailLength)
        let word = frame.word(at: headerLength)
        guard Int(word & ~isStored) == block.count, frame.word(at: frame.count - tailLength) == 0 else {
            return false
        }
        guard word & isStored != 0 else { return decompress(block: block, into: output) }
        guard block.count == output.count else { return false }
        output.copyMemory(from: block)
        return true
    }

    /// Decompresses one block, and writes nothing beyond `output`, whatever is in the block.
    ///
    /// - Returns: Whether `output` is filled. On Apple platforms that is also true of a longer block: it is cut off.
    private static func decompress(
        block: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer
    ) -> Bool {
        #if canImport(Darwin)
            guard let target = output.baseAddress, let source = block.baseAddress else { return false }
            let length = compression_decode_buffer(
                target.assumingMemoryBound(to: UInt8.self), output.count,
                source.assumingMemoryBound(to: UInt8.self), block.count, nil, COMPRESSION_LZ4_RAW)
        #else
            let length = LZ4_decompress_safe(
                block.baseAddress, output.baseAddress, CInt(block.count), CInt(output.count))
        #endif
        return Int(length) == output.count
    }
}

/// Compresses chunks, reusing the state of one codec.
struct LZ4Compressor: ~Copyable {
    private let state: UnsafeMutableRawPointer

    init() {
        #if canImport(Darwin)
            let length = compression_encode_scratch_buffer_size(COMPRESSION_LZ4_RAW)
        #else
            let length = Int(LZ4_sizeofState())
        #endif
        state = .allocate(byteCount: length, alignment: 16)
    }

    deinit {
        state.deallocate()
    }

    /// Compresses one chunk, which must not be empty, into one frame. `output` must have room for the
    /// content and ``LZ4Frame/overhead``. Returns the length of the frame.
    func compress(_ content: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer) -> Int {
        // One byte less than the content, so that a block that saves nothing is stored uncompressed.
        let length = compressBlock(content, into: output, atMost: content.count - 1)
        if length > 0 { return finish(output, of: content, blockLength: length, isStored: false) }
        output.slice(LZ4Frame.blockStart..<LZ4Frame.blockStart + content.count).copyMemory(from: content)
        return finish(output, of: content, blockLength: content.count, isStored: true)
    }

    /// Compresses one chunk as ``compress(_:into:)`` does, unless nothing is saved, or the frame would have more than `limit`
    /// bytes, which is found out before a whole frame is made.
    ///
    /// - Returns: `nil` in these cases.
    func compress(
        _ content: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer, atMost limit: Int
    ) -> Int? {
        let limit = min(limit - LZ4Frame.overhead, content.count - 1)
        let length = compressBlock(content, into: output, atMost: limit)
        guard length > 0 else { return nil }
        return finish(output, of: content, blockLength: length, isStored: false)
    }

    /// Returns the length of the block; 0 if it would be longer than `limit`.
    private func compressBlock(
        _ content: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer, atMost limit: Int
    ) -> Int {
        guard limit > 0 else { return 0 }
        let output = output.slice(LZ4Frame.blockStart..<LZ4Frame.blockStart + limit)
        #if canImport(Darwin)
            guard let target = output.baseAddress, let source = content.baseAddress else { return 0 }
            return compression_encode_buffer(
                target.assumingMemoryBound(to: UInt8.self), limit,
                source.assumingMemoryBound(to: UInt8.self), content.count, state, COMPRESSION_LZ4_RAW)
        #else
            let length = LZ4_compress_fast_extState(
                state, content.baseAddress, output.baseAddress, CInt(content.count), CInt(limit), 1)
            return Int(length)
        #endif
    }

    /// Completes a frame whose block is written. Returns its length.
    private func finish(
        _ output: UnsafeMutableRawBufferPointer, of content: UnsafeRawBufferPointer, blockLength: Int,
        isStored: Bool
    ) -> Int {
        writeHeader(contentBytes: content.count, into: output)
        let word = UInt32(blockLength) | (isStored ? LZ4Frame.isStored : 0)
        output.storeBytes(of: word.littleEndian, toByteOffset: LZ4Frame.headerLength, as: UInt32.self)
        let end = LZ4Frame.blockStart + blockLength
        output.storeBytes(of: 0, toByteOffset: end, as: UInt32.self)
        output.storeBytes(of: Checksum.xxh32(content).littleEndian, toByteOffset: end + 4, as: UInt32.self)
        return end + LZ4Frame.tailLength
    }

    private func writeHeader(contentBytes: Int, into output: UnsafeMutableRawBufferPointer) {
        // The smallest permitted block size that fits: 64 KiB, 256 KiB or 1 MiB.
        let blockSize: UInt8 = contentBytes <= 64 << 10 ? 4 : contentBytes <= 256 << 10 ? 5 : 6
        output.storeBytes(of: LZ4Frame.magic.littleEndian, as: UInt32.self)
        output[4] = LZ4Frame.flags
        output[5] = blockSize << 4
        output.storeBytes(of: UInt64(contentBytes).littleEndian, toByteOffset: 6, as: UInt64.self)
        output[LZ4Frame.headerLength - 1] = LZ4Frame.headerChecksum(UnsafeRawBufferPointer(output))
    }
}

extension UnsafeRawBufferPointer {
    fileprivate func word(at offset: Int) -> UInt32 {
        loadUnaligned(fromByteOffset: offset, as: UInt32.self).littleEndian
    }
}
