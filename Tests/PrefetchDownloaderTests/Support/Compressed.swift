#if canImport(CPrefetchZlib)
    import CPrefetchZlib
    import Foundation

    /// The formats of what a server compresses.
    enum Compressed {
        /// With the name and the checksum of a `.gz` file.
        static let gzip: Int32 = 16 + MAX_WBITS
        /// What `deflate` means (RFC 9110, section 8.4.1.2).
        static let zlib: Int32 = MAX_WBITS
    }

    extension Data {
        func compressed(_ format: Int32 = Compressed.gzip) -> Data {
            var stream = z_stream()
            let size = Int32(MemoryLayout<z_stream>.size)
            precondition(
                deflateInit2_(&stream, 9, Z_DEFLATED, format, 8, Z_DEFAULT_STRATEGY, ZLIB_VERSION, size)
                    == Z_OK)
            defer { deflateEnd(&stream) }
            var (input, output) = (self, Data(count: Int(deflateBound(&stream, UInt(count)))))
            let made = input.withUnsafeMutableBytes { input in
                output.withUnsafeMutableBytes { output in
                    stream.next_in = input.baseAddress?.assumingMemoryBound(to: UInt8.self)
                    stream.avail_in = UInt32(input.count)
                    stream.next_out = output.baseAddress?.assumingMemoryBound(to: UInt8.self)
                    stream.avail_out = UInt32(output.count)
                    precondition(deflate(&stream, Z_FINISH) == Z_STREAM_END)
                    return output.count - Int(stream.avail_out)
                }
            }
            return output.prefix(made)
        }
    }
#endif
