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
