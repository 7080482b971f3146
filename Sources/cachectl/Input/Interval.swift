/// The time between two looks, as a person writes it: `500ms`, `1s`, `2m`.
struct Interval: Hashable {
    static let shortest = Duration.milliseconds(100)
    static let longest = Duration.seconds(3600)

    let duration: Duration

    init(_ duration: Duration) {
        self.duration = duration
    }

    init(_ text: String) throws(IntervalError) {
        let digits = text.utf8.prefix(while: (UInt8(ascii: "0")...UInt8(ascii: "9")).contains)
        let milliseconds: Int64
        switch text[digits.endIndex...].drop(while: { $0 == " " }) {
        case "ms": milliseconds = 1
        case "s": milliseconds = 1000
        case "m": milliseconds = 60_000
        default: throw .malformed
        }
        guard let number = Int64(Substring(digits)) else { throw digits.isEmpty ? .malformed : .outOfRange }
        let (product, overflow) = number.multipliedReportingOverflow(by: milliseconds)
        let duration = Duration.milliseconds(product)
        guard !overflow, (Self.shortest...Self.longest).contains(duration) else { throw .outOfRange }
        self.duration = duration
    }

    static func parse(_ text: String) throws -> Interval { try Interval(text) }
}

/// Why a text is not an interval. ArgumentParser names the text and the option.
enum IntervalError: Error, Hashable, CustomStringConvertible {
    case malformed, outOfRange

    var description: String {
        switch self {
        case .malformed: "it is not an interval; write for example 500ms, 1s or 2m"
        case .outOfRange: "it is not between 100ms and 60m"
        }
    }
}
