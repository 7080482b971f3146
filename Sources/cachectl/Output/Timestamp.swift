#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// A time, in milliseconds since 1970, and its forms as text.
enum Timestamp {
    static var now: Int64 { Int64(Date().timeIntervalSince1970 * 1000) }

    /// The years that ISO 8601 writes with four digits.
    private static let writable = -62_167_219_200_000..<253_402_300_800_000 as Range<Int64>

    /// `2026-03-01`
    static func day(of milliseconds: Int64) -> String { String(text(milliseconds: milliseconds).prefix(10)) }

    /// `12:00:00`, in UTC.
    static func time(of milliseconds: Int64) -> String {
        String(text(milliseconds: milliseconds).dropFirst(11).prefix(8))
    }

    /// `2026-03-01T12:00:00Z`; the bare number for a year that does not have four digits.
    static func text(milliseconds: Int64) -> String {
        guard writable.contains(milliseconds) else { return "\(milliseconds) ms after 1970" }
        return Date(timeIntervalSince1970: Double(milliseconds) / 1000).formatted(.iso8601)
    }
}
