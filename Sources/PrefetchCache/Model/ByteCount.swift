/// A number of bytes.
public struct ByteCount: Hashable, Sendable, Comparable {
    public let bytes: Int64

    private init(_ bytes: Int64) {
        self.bytes = bytes
    }

    // Negative numbers count as 0; what exceeds 2^63−1 bytes counts as that.
    public static func bytes(_ count: Int64) -> ByteCount { ByteCount(max(0, count)) }
    public static func kibibytes(_ count: Int) -> ByteCount { scaled(count, 1 << 10) }
    public static func mebibytes(_ count: Int) -> ByteCount { scaled(count, 1 << 20) }
    public static func gibibytes(_ count: Int) -> ByteCount { scaled(count, 1 << 30) }

    private static func scaled(_ count: Int, _ unit: Int64) -> ByteCount {
        let (bytes, overflow) = Int64(max(0, count)).multipliedReportingOverflow(by: unit)
        return ByteCount(overflow ? .max : bytes)
    }

    public static func < (left: ByteCount, right: ByteCount) -> Bool { left.bytes < right.bytes }
}
