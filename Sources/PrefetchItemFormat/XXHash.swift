internal import PrefetchFileSystem
internal import SystemPackage

#if PREFETCHCACHE_PORTABLE
    internal import CPrefetchChecksum
#else
    internal import CPrefetchXXHash
#endif

/// The hashes of the item format, with the seed 0: from libxxhash on Linux, and from this package's own
/// implementation on Apple platforms. Both return the same for the same bytes.
enum XXHash {
    /// XXH32, which a frame of LZ4 has.
    static func xxh32(_ bytes: UnsafeRawBufferPointer) -> UInt32 {
        #if PREFETCHCACHE_PORTABLE
            cchecksum_xxh32(bytes.baseAddress, bytes.count)
        #else
            XXH32(bytes.baseAddress, bytes.count, 0)
        #endif
    }

    /// XXH3-64.
    static func xxh3(_ bytes: UnsafeRawBufferPointer) -> UInt64 {
        #if PREFETCHCACHE_PORTABLE
            cchecksum_xxh3_64(bytes.baseAddress, bytes.count)
        #else
            XXH3_64bits(bytes.baseAddress, bytes.count)
        #endif
    }

    /// XXH3-128.
    static func xxh128(_ bytes: UnsafeRawBufferPointer) -> (high: UInt64, low: UInt64) {
        #if PREFETCHCACHE_PORTABLE
            let hash = cchecksum_xxh3_128(bytes.baseAddress, bytes.count)
            return (hash.high, hash.low)
        #else
            let hash = XXH3_128bits(bytes.baseAddress, bytes.count)
            return (hash.high64, hash.low64)
        #endif
    }
}

/// The XXH3-64 of bytes that come in pieces.
struct XXH3Stream: ~Copyable {
    #if PREFETCHCACHE_PORTABLE
        private var state = cchecksum_xxh3_stream()

        init() throws(FileSystemError) {
            cchecksum_xxh3_begin(&state)
        }

        mutating func append(_ bytes: UnsafeRawBufferPointer) {
            cchecksum_xxh3_append(&state, bytes.baseAddress, bytes.count)
        }

        mutating func finish() -> UInt64 {
            cchecksum_xxh3_result(&state)
        }
    #else
        private let state: OpaquePointer

        init() throws(FileSystemError) {
            guard let state = XXH3_createState() else { throw FileSystemError("malloc", errno: .noMemory) }
            self.state = state
            XXH3_64bits_reset(state)
        }

        deinit {
            XXH3_freeState(state)
        }

        mutating func append(_ bytes: UnsafeRawBufferPointer) {
            XXH3_64bits_update(state, bytes.baseAddress, bytes.count)
        }

        mutating func finish() -> UInt64 {
            XXH3_64bits_digest(state)
        }
    #endif
}
