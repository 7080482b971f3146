// What is called of the Compression framework, after `compression.h`.

// typedef enum { …, COMPRESSION_LZ4 = 0x100, COMPRESSION_LZ4_RAW = 0x101, … } compression_algorithm;
public struct compression_algorithm: RawRepresentable, Equatable, Sendable {
    public var rawValue: UInt32
    public init(_ rawValue: UInt32) { self.rawValue = rawValue }
    public init(rawValue: UInt32) { self.rawValue = rawValue }
}

public var COMPRESSION_LZ4_RAW: compression_algorithm { compression_algorithm(0x101) }

// size_t compression_encode_scratch_buffer_size(compression_algorithm algorithm);
public func compression_encode_scratch_buffer_size(_ algorithm: compression_algorithm) -> Int { 0 }

// size_t compression_encode_buffer(uint8_t * __restrict dst_buffer, size_t dst_size,
//     const uint8_t * __restrict src_buffer, size_t src_size, void * __restrict __nullable scratch_buffer,
//     compression_algorithm algorithm);
public func compression_encode_buffer(
    _ dst_buffer: UnsafeMutablePointer<UInt8>, _ dst_size: Int, _ src_buffer: UnsafePointer<UInt8>, _ src_size: Int,
    _ scratch_buffer: UnsafeMutableRawPointer?, _ algorithm: compression_algorithm
) -> Int { 0 }

// size_t compression_decode_buffer(uint8_t * __restrict dst_buffer, size_t dst_size,
//     const uint8_t * __restrict src_buffer, size_t src_size, void * __restrict __nullable scratch_buffer,
//     compression_algorithm algorithm);
public func compression_decode_buffer(
    _ dst_buffer: UnsafeMutablePointer<UInt8>, _ dst_size: Int, _ src_buffer: UnsafePointer<UInt8>, _ src_size: Int,
    _ scratch_buffer: UnsafeMutableRawPointer?, _ algorithm: compression_algorithm
) -> Int { 0 }
