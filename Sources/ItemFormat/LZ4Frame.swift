internal import CLZ4

/// Standard LZ4 frames with content size and content checksum, one per chunk.
enum LZ4Frame {
    /// The most that a frame of one chunk adds to its content: the header with content size (15
    /// bytes), the length of its one block (4), the end mark (4) and the content checksum (4).
    static let overhead = 27

    /// The most bytes that the compressor may touch for a content of `length` bytes.
    static func bound(_ length: Int) -> Int {
        var preferences = preferences(contentLength: length)
        return LZ4F_compressFrameBound(length, &preferences)
    }

    /// Compresses one chunk into one frame. `output` has room for ``bound(_:)`` bytes.
    /// Returns the length of the frame.
    static func compress(_ content: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer) -> Int
    {
        var preferences = preferences(contentLength: content.count)
        let length = LZ4F_compressFrame(
            output.baseAddress, output.count, content.baseAddress, content.count, &preferences)
        // The only error left is a buffer below the bound, and that is a fault of this code.
        precondition(LZ4F_isError(length) == 0, "LZ4F_compressFrame: the output is below its bound")
        return length
    }

    private static func preferences(contentLength: Int) -> LZ4F_preferences_t {
        var preferences = LZ4F_preferences_t()
        preferences.frameInfo.blockSizeID = LZ4F_max1MB
        preferences.frameInfo.blockMode = LZ4F_blockIndependent
        preferences.frameInfo.contentChecksumFlag = LZ4F_contentChecksumEnabled
        preferences.frameInfo.contentSize = UInt64(contentLength)
        preferences.autoFlush = 1
        return preferences
    }
}

/// Decompresses frames, reusing one context of liblz4.
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

    /// Decompresses one whole frame that must fill `output` exactly. The frame's own 32-bit
    /// checksum is skipped: the caller compares the 64-bit one of the chunk table, which costs less.
    /// Returns whether the frame was well-formed and of that length.
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
