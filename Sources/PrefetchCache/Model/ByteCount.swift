/// A number of bytes. Negative counts become 0, and counts beyond 2^63−1 bytes become that.
public struct ByteCount: Hashable, Sendable, Comparable {
    /// The number of bytes, never negative.
    public let bytes: Int64

    private init(_ bytes: Int64) {
        self.bytes = bytes
    }

    /// A count of bytes.
    public static func bytes(_ count: Int64) -> ByteCount { ByteCount(max(0, count)) }
    /// A count of kibibytes, of 1,024 bytes each.
    public static func kibibytes(_ count: Int) -> ByteCount { scaled(count, 1 << 10) }
    /// A count of mebibytes, of 1,024 kibibytes each.
    public static func mebibytes(_ count: Int) -> ByteCount { scaled(count, 1 << 20) }
    /// A count of gibibytes, of 1,024 mebibytes each.
    public static func gibibytes(_ count: Int) -> ByteCount { scaled(count, 1 << 30) }

    private static func scaled(_ count: Int, _ unit: Int64) -> ByteCount {
        let (bytes, overflow) = Int64(max(0, count)).multipliedReportingOverflow(by: unit)
        return ByteCount(overflow ? .max : bytes)
    }

    public static func < (left: ByteCount, right: ByteCount) -> Bool { left.bytes < right.bytes }
}
