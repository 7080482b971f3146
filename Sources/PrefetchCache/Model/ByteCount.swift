/// A number of bytes, from 0 to `Int64.max`.
public struct ByteCount: Hashable, Sendable, Comparable {
    /// The number of bytes, at least 0.
    public let bytes: Int64

    private init(_ bytes: Int64) {
        self.bytes = bytes
    }

    /// Returns `count` bytes. A negative `count` becomes 0.
    public static func bytes(_ count: Int64) -> ByteCount { ByteCount(max(0, count)) }
    /// Returns `count` × 1,024 bytes. A negative `count` becomes 0, and an overflow `Int64.max`.
    public static func kibibytes(_ count: Int) -> ByteCount { scaled(count, 1 << 10) }
    /// Returns `count` × 1,024² bytes. A negative `count` becomes 0, and an overflow `Int64.max`.
    public static func mebibytes(_ count: Int) -> ByteCount { scaled(count, 1 << 20) }
    /// Returns `count` × 1,024³ bytes. A negative `count` becomes 0, and an overflow `Int64.max`.
    public static func gibibytes(_ count: Int) -> ByteCount { scaled(count, 1 << 30) }

    private static func scaled(_ count: Int, _ unit: Int64) -> ByteCount {
        let (bytes, overflow) = Int64(max(0, count)).multipliedReportingOverflow(by: unit)
        return ByteCount(overflow ? .max : bytes)
    }

    public static func < (left: ByteCount, right: ByteCount) -> Bool { left.bytes < right.bytes }
}
