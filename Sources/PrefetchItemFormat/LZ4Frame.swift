internal import CPrefetchLZ4
internal import CPrefetchXXHash
internal import PrefetchFileSystem

/// Standard LZ4 frames with content size and content checksum, one per chunk.
///
/// They are byte-identical to the output of `LZ4F_compressFrame` with the same settings. That function is not used
/// because the XXH32 inside liblz4 is six times slower than that of libxxhash, which makes it a quarter of the total
/// compression time.
enum LZ4Frame {
    /// Magic number, descriptor and descriptor checksum.
    fileprivate static let headerLength = 15
    /// The bytes that a frame adds to an incompressible chunk: the header, the size of its single block (4), the end
    /// mark (4) and the content checksum (4).
    static let overhead = headerLength + 12
}

/// Compresses chunks, reusing one liblz4 state.
struct LZ4Compressor: ~Copyable {
    private let state: UnsafeMutableRawPointer

    init() {
        state = .allocate(byteCount: Int(LZ4_sizeofState()), alignment: 16)
    }

    deinit {
        state.deallocate()
    }

    /// Compresses one chunk, which must not be empty, into one frame. `output` must have room for the
    /// content and ``LZ4Frame/overhead``. Returns the length of the frame.
    func compress(_ content: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer) -> Int {
        writeHeader(contentBytes: content.count, into: output)
        let end = writeBlock(content, into: output)
        output.storeBytes(of: 0, toByteOffset: end, as: UInt32.self)
        let checksum = XXH32(content.baseAddress, content.count, 0)
        output.storeBytes(of: checksum.littleEndian, toByteOffset: end + 4, as: UInt32.self)
        return end + 8
    }

    /// Writes the header of a frame with a single independent block.
    private func writeHeader(contentBytes: Int, into output: UnsafeMutableRawBufferPointer) {
        // Version 1, independent blocks, content size, content checksum.
        let flags: UInt8 = 0b0110_1100
        // The smallest permitted block size that fits: 64 KiB, 256 KiB or 1 MiB.
        let blockSize: UInt8 = contentBytes <= 64 << 10 ? 4 : contentBytes <= 256 << 10 ? 5 : 6
        output.storeBytes(of: UInt32(0x184D_2204).littleEndian, as: UInt32.self)
        output[4] = flags
        output[5] = blockSize << 4
        output.storeBytes(of: UInt64(contentBytes).littleEndian, toByteOffset: 6, as: UInt64.self)
        let descriptor = output.slice(4..<14)
        output[14] = UInt8(truncatingIfNeeded: XXH32(descriptor.baseAddress, descriptor.count, 0) >> 8)
    }

    /// Returns the offset of the end of the block.
    private func writeBlock(_ content: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer)
        -> Int
    {
        let start = LZ4Frame.headerLength + 4
        let room = output.slice(start..<start + content.count)
        // One byte less than the content, so that a block that saves nothing is stored uncompressed.
        let length = content.withMemoryRebound(to: CChar.self) { source in
            room.withMemoryRebound(to: CChar.self) { target in
                Int(
                    LZ4_compress_fast_extState(
                        state, source.baseAddress, target.baseAddress, CInt(source.count),
                        CInt(target.count - 1), 1))
            }
        }
        var word = UInt32(length)
        if length == 0 {
            room.copyMemory(from: content)
            word = UInt32(content.count) | 1 << 31
        }
        output.storeBytes(of: word.littleEndian, toByteOffset: LZ4Frame.headerLength, as: UInt32.self)
        return start + (length == 0 ? content.count : length)
    }
}

/// Decompresses frames, reusing one liblz4 context.
struct LZ4Decompressor: ~Copyable {
    private let context: OpaquePointer

    init() {
        var context: OpaquePointer?
        _ = LZ4F_createDecompressionContext(&context, UInt32(LZ4F_VERSION))
        guard let context else { fatalError("out of memory") }
        self.context = context
    }

    deinit {
        LZ4F_freeDecompressionContext(context)
    }

    /// Decompresses one whole frame, which must fill `output` exactly. Skips the frame's own 32-bit checksum: the
    /// caller verifies the 64-bit one of the chunk table, which is cheaper. Returns whether the frame was well-formed
    /// and of that length.
    func decompress(_ frame: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer) -> Bool {
        LZ4F_resetDecompressionContext(context)
        var options = LZ4F_decompressOptions_t()
        options.stableDst = 1
        options.skipChecksums = 1
        var produced = output.count
        var consumed = frame.count
        let hint = LZ4F_decompress(
            context, output.baseAddress, &produced, frame.baseAddress, &consumed, &options)
        return hint == 0 && produced == output.count && consumed == frame.count
    }
}
