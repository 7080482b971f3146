import ArgumentParser
import PrefetchCaching

/// A capacity as it stands on the command line: `20297697`, `64MiB`, `2GB`.
enum Capacity {
    private static let units: [Substring: Int64] = [
        "": 1, "B": 1,
        "kB": 1_000, "MB": 1_000_000, "GB": 1_000_000_000, "TB": 1_000_000_000_000,
        "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "TiB": 1 << 40,
    ]

    @Sendable static func parse(_ text: String) throws -> ByteCount {
        // `isNumber` would take the digits of other scripts, which `Int64` does not read.
        let digits = text.prefix { $0.isASCII && $0.isNumber }
        guard let number = Int64(digits), let unit = units[text.dropFirst(digits.count)] else {
            throw ValidationError("'\(text)' is no size; write for example 1GiB, 64MB or 20297697.")
        }
        let (bytes, overflow) = number.multipliedReportingOverflow(by: unit)
        guard !overflow else { throw ValidationError("'\(text)' is more than \(Int64.max) bytes.") }
        return .bytes(bytes)
    }
}

/// A time as it stands on the command line: `30d`, `12h`.
enum WarmUp {
    private static let units: [Character: Int64] = ["s": 1, "m": 60, "h": 3600, "d": 86400, "w": 604_800]

    /// - Returns: Milliseconds.
    @Sendable static func parse(_ text: String) throws -> Int64 {
        guard let unit = text.last.flatMap({ units[$0] }), let number = Int64(text.dropLast()),
            (0...100_000).contains(number)
        else { throw ValidationError("'\(text)' is no time; write for example 30d or 12h.") }
        return number * unit * 1000
    }
}
