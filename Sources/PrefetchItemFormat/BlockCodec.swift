#if canImport(Darwin)
    internal import Compression
#else
    internal import CPrefetchLZ4
#endif

/// Compresses blocks of LZ4, without their frames, and reuses its state: by liblz4 on Linux, and by the Compression
/// framework on Apple platforms. Each decompresses what the other has compressed.
struct BlockCompressor: ~Copyable {
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

    /// Compresses `content`, which must not be empty, into one block.
    ///
    /// - Returns: The length of the block in bytes; 0 if it does not fit into `output`.
    func compress(_ content: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer) -> Int {
        #if canImport(Darwin)
            content.withMemoryRebound(to: UInt8.self) { content in
                output.withMemoryRebound(to: UInt8.self) { output in
                    guard let target = output.baseAddress, let source = content.baseAddress else { return 0 }
                    return compression_encode_buffer(
                        target, output.count, source, content.count, state, COMPRESSION_LZ4_RAW)
                }
            }
        #else
            content.withMemoryRebound(to: CChar.self) { content in
                output.withMemoryRebound(to: CChar.self) { output in
                    Int(
                        LZ4_compress_fast_extState(
                            state, content.baseAddress, output.baseAddress, CInt(content.count),
                            CInt(output.count), 1))
                }
            }
        #endif
    }
}

enum BlockDecompressor {
    /// Decompresses one block, and writes nothing beyond `output`, whatever is in the block.
    ///
    /// - Returns: Whether `output` is filled. On Apple platforms that is also true of a longer block: it is cut off.
    static func decompress(_ block: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer)
        -> Bool
    {
        #if canImport(Darwin)
            block.withMemoryRebound(to: UInt8.self) { block in
                output.withMemoryRebound(to: UInt8.self) { output in
                    guard let target = output.baseAddress, let source = block.baseAddress else {
                        return false
                    }
                    let length = compression_decode_buffer(
                        target, output.count, source, block.count, nil, COMPRESSION_LZ4_RAW)
                    return length == output.count
                }
            }
        #else
            block.withMemoryRebound(to: CChar.self) { block in
                output.withMemoryRebound(to: CChar.self) { output in
                    let length = LZ4_decompress_safe(
                        block.baseAddress, output.baseAddress, CInt(block.count), CInt(output.count))
                    return Int(length) == output.count
                }
            }
        #endif
    }
}
