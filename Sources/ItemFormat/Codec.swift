internal import Synchronization

/// What one thread needs to encode or decode: a liblz4 context and two buffers that grow to the
/// largest chunk they have seen.
///
/// `@unchecked Sendable`: a codec belongs to one thread at a time. ``CodecPool`` hands it out and
/// takes it back under a lock, and nobody else keeps a reference.
final class Codec: @unchecked Sendable {
    let compressor = LZ4Compressor()
    let decompressor = LZ4Decompressor()
    private var inputBuffer = UnsafeMutableRawBufferPointer(start: nil, count: 0)
    private var outputBuffer = UnsafeMutableRawBufferPointer(start: nil, count: 0)

    deinit {
        inputBuffer.deallocate()
        outputBuffer.deallocate()
    }

    /// A buffer for bytes on their way in, valid until the next call.
    func input(atLeast count: Int) -> UnsafeMutableRawBufferPointer {
        Self.grow(&inputBuffer, to: count)
        return inputBuffer
    }

    /// A buffer for bytes on their way out, valid until the next call.
    func output(atLeast count: Int) -> UnsafeMutableRawBufferPointer {
        Self.grow(&outputBuffer, to: count)
        return outputBuffer
    }

    private static func grow(_ buffer: inout UnsafeMutableRawBufferPointer, to count: Int) {
        guard buffer.count < count else { return }
        buffer.deallocate()
        buffer = .allocate(byteCount: count, alignment: 64)
    }
}

/// Codecs that are not in use, kept for the next item.
package final class CodecPool: Sendable {
    /// How many chunks of one item are worked on at the same time, at most.
    package let parallelism: Int
    private let idle = Mutex<[Codec]>([])

    /// - Parameter parallelism: 1 to 4; anything else becomes the nearest of these. Each step costs
    ///   about 2 MiB of memory for every large item that is being written or read. As many codecs
    ///   stay in the pool, with their buffers.
    package init(parallelism: Int) {
        self.parallelism = min(max(parallelism, 1), 4)
    }

    func take() -> Codec {
        idle.withLock { $0.popLast() } ?? Codec()
    }

    func giveBack(_ codec: Codec) {
        idle.withLock { idle in
            if idle.count < parallelism { idle.append(codec) }
        }
    }

    /// Lends `count` codecs for the time of `body`.
    func withCodecs<Result, Failure: Error>(
        _ count: Int, _ body: ([Codec]) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        let codecs = (0..<count).map { _ in take() }
        defer { codecs.forEach(giveBack) }
        return try body(codecs)
    }
}

/// A codec on loan for as long as this object lives.
final class CodecLoan {
    let codec: Codec
    private let pool: CodecPool

    init(from pool: CodecPool) {
        self.pool = pool
        codec = pool.take()
    }

    deinit {
        pool.giveBack(codec)
    }
}
