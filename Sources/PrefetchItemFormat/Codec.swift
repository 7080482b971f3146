internal import PrefetchFileSystem
internal import Synchronization

/// The state that one thread needs to encode or decode: that of the compressor, and two buffers that grow to the largest
/// chunk processed.
///
/// `@unchecked Sendable`: a codec is used by one thread at a time. ``CodecPool`` hands it out and takes it back under a
/// lock, and keeps no other reference.
final class Codec: @unchecked Sendable {
    let compressor = LZ4Compressor()
    private var inputBuffer = UnsafeMutableRawBufferPointer(start: nil, count: 0)
    private var outputBuffer = UnsafeMutableRawBufferPointer(start: nil, count: 0)

    deinit {
        inputBuffer.deallocate()
        outputBuffer.deallocate()
    }

    /// The input buffer, valid until the next call.
    func input(atLeast count: Int) -> UnsafeMutableRawBufferPointer {
        Self.grow(&inputBuffer, to: count)
        return inputBuffer
    }

    /// The output buffer, valid until the next call.
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

/// A pool of idle codecs.
package final class CodecPool: Sendable {
    /// The maximum number of chunks of one item that are processed concurrently.
    package let parallelism: Int
    private let idle = UnfairMutex<[Codec]>([])

    /// - Parameter parallelism: 1 to 4; other values are clamped. Each increment costs about 2 MiB of memory for every
    ///   large item being written or read. The pool keeps up to this many idle codecs with their buffers.
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

    /// Lends `count` codecs for the duration of `body`.
    func withCodecs<Result, Failure: Error>(
        _ count: Int, _ body: ([Codec]) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        let codecs = (0..<count).map { _ in take() }
        defer { codecs.forEach(giveBack) }
        return try body(codecs)
    }
}

/// A codec borrowed from a pool until this object is deinitialised.
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
