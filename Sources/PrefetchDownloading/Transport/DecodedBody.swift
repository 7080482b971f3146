internal import Foundation

/// A piece of content.
struct ReceivedPiece {
    var content: Data
    /// How many bytes were received for it since the last piece.
    var receivedBytes: Int
}

extension ReceivedPiece {
    /// A piece that was not encoded.
    init(_ content: Data) {
        self.init(content: content, receivedBytes: content.count)
    }
}

extension Exchange {
    /// The pieces of the content, one with each call, and `nil` after the last one.
    ///
    /// - Parameter coding: The encoding to decode.
    func content(
        encodedBy coding: ContentCoding? = nil
    ) -> () async throws(DownloadError.Reason) -> ReceivedPiece? {
        #if canImport(CPrefetchZlib)
            if let coding {
                let body = DecodedBody(coding) { () throws(DownloadError.Reason) in try await self.next() }
                return { () throws(DownloadError.Reason) in try await body.next() }
            }
        #endif
        return { () throws(DownloadError.Reason) in try await self.next().map { ReceivedPiece($0) } }
    }
}

#if canImport(CPrefetchZlib)
    internal import CPrefetchZlib

    /// The content of an encoded body, decoded piece by piece as it is asked for.
    ///
    /// Not by the library that transfers: libcurl 7.88 takes a body for complete that ends before its encoding does, refuses
    /// one of two members, and decodes ahead of what is asked for.
    final class DecodedBody {
        /// The most bytes of content that are decoded at once.
        private static let pieceBytes = 256 << 10
        /// Content that is longer may at most be ``largestRatio`` times as long as what was received. A few dozen are the rule
        /// for logs and tables, and more than 1,032 are impossible.
        private static let unlimitedBytes: Int64 = 16 << 20
        private static let largestRatio: Int64 = 200

        private let coding: ContentCoding
        private let source: () async throws(DownloadError.Reason) -> Data?
        private let stream = UnsafeMutablePointer<z_stream>.allocate(capacity: 1)
        private var isBegun = false
        /// Whether nothing, or a whole member, has been decoded.
        private var isBetweenMembers = true
        /// Whether the last piece had no more room, so that there may be more of it.
        private var isFull = false
        private var input = Data()
        private var receivedBytes: Int64 = 0
        private var reportedBytes: Int64 = 0
        private var contentBytes: Int64 = 0

        /// - Parameter source: Returns the next piece of the body, or `nil` after the last one.
        init(_ coding: ContentCoding, from source: @escaping () async throws(DownloadError.Reason) -> Data?) {
            self.coding = coding
            self.source = source
            stream.initialize(to: z_stream())
        }

        deinit {
            if isBegun { inflateEnd(stream) }
            stream.deallocate()
        }

        /// Returns the next piece, which may have no content, or `nil` after the last one.
        ///
        /// - Throws: ``DownloadError/Reason/undecodable`` if the body is damaged or ends early,
        ///   ``DownloadError/Reason/inflated(received:content:)``, and what the source throws.
        func next() async throws(DownloadError.Reason) -> ReceivedPiece? {
            while true {
                if let content = try decode() { return piece(content) }
                guard let more = try await source() else { break }
                receivedBytes += Int64(more.count)
                input = more
            }
            guard isBegun, isBetweenMembers else { throw .undecodable }
            return receivedBytes > reportedBytes ? piece(Data()) : nil
        }

        private func piece(_ content: Data) -> ReceivedPiece {
            defer { reportedBytes = receivedBytes }
            return ReceivedPiece(content: content, receivedBytes: Int(receivedBytes - reportedBytes))
        }

        /// Decodes from what was received.
        ///
        /// - Returns: `nil` if more has to be received first.
        private func decode() throws(DownloadError.Reason) -> Data? {
            while true {
                if input.isEmpty, !isFull { return nil }
                if isBetweenMembers { try beginMember() }
                var content = Data(count: Self.pieceBytes)
                let (result, used, made) = inflate(into: &content)
                input = input.dropFirst(used)
                contentBytes += Int64(made)
                isFull = made == Self.pieceBytes && result != Z_STREAM_END
                switch result {
                case Z_OK: break
                case Z_STREAM_END: isBetweenMembers = true
                // Nothing could be done without more of the body.
                case Z_BUF_ERROR: return nil
                default: throw .undecodable
                }
                if contentBytes > max(Self.unlimitedBytes, receivedBytes * Self.largestRatio) {
                    throw .expandsTooFar(received: receivedBytes, content: contentBytes)
                }
                if made > 0 { return content.prefix(made) }
            }
        }

        /// A body in gzip may have several members (RFC 1952, section 2.2), others have one.
        private func beginMember() throws(DownloadError.Reason) {
            if isBegun {
                guard coding == .gzip, inflateReset(stream) == Z_OK else { throw .undecodable }
            } else {
                guard cprefetch_inflate_init(stream, windowBits) == Z_OK else { throw .undecodable }
                isBegun = true
            }
            isBetweenMembers = false
        }

        /// The format, as zlib is told it. Some servers take `deflate` for the bare format of that name (RFC 1951) rather than
        /// that of zlib (RFC 1950), whose first byte tells.
        private var windowBits: Int32 {
            switch coding {
            case .gzip: 16 + MAX_WBITS
            case .deflate: input.first.map { $0 & 0x0F } == 8 ? MAX_WBITS : -MAX_WBITS
            }
        }

        private func inflate(into content: inout Data) -> (result: Int32, used: Int, made: Int) {
            input.withUnsafeBytes { input in
                content.withUnsafeMutableBytes { content in
                    // zlib reads the input without changing it.
                    stream.pointee.next_in = UnsafeMutablePointer(
                        mutating: input.baseAddress?.assumingMemoryBound(to: UInt8.self))
                    stream.pointee.avail_in = UInt32(input.count)
                    stream.pointee.next_out = content.baseAddress?.assumingMemoryBound(to: UInt8.self)
                    stream.pointee.avail_out = UInt32(content.count)
                    let result = CPrefetchZlib.inflate(stream, Z_NO_FLUSH)
                    return (
                        result, input.count - Int(stream.pointee.avail_in),
                        content.count - Int(stream.pointee.avail_out)
                    )
                }
            }
        }
    }
#endif
