/// HTTP dates, in seconds since 1970 (RFC 9110, section 5.6.7). Foundation's format style for them requires newer
/// systems than this package does.
enum HTTPDate {
    /// Parses the three formats that a recipient must accept:
    ///
    ///     Sun, 06 Nov 1994 08:49:37 GMT
    ///     Sunday, 06-Nov-94 08:49:37 GMT
    ///     Sun Nov  6 08:49:37 1994
    ///
    /// The day name is not validated against the date.
    ///
    /// - Parameter now: Seconds since 1970. Determines the century of a two-digit year, which is at most 50 years in
    ///   the future.
    static func parse(_ text: String, now: Int64) -> Int64? {
        // An accepted date is sent back in the headers of later requests.
        guard text.utf8.count <= 40, text.utf8.allSatisfy({ (0x20...0x7E).contains($0) })
        else { return nil }
        var words = text.split(separator: " ").map(String.init)
        guard let day = words.first else { return nil }
        guard day.hasSuffix(",") else {
            guard words.count == 5 else { return nil }
            return seconds(words[2], words[1], words[4], words[3])
        }
        guard words.last == "GMT" else { return nil }
        words.removeFirst()
        words.removeLast()
        if words.count == 2 {
            let date = words[0].split(separator: "-", omittingEmptySubsequences: false).map(String.init)
            guard date.count == 3, date[2].utf8.count == 2, let year = ByteNumber.parse(date[2]) else {
                return nil
            }
            return seconds(date[0], date[1], String(fullYear(year, now: now)), words[1])
        }
        guard words.count == 4 else { return nil }
        return seconds(words[0], words[1], words[2], words[3])
    }

    private static func fullYear(_ year: Int64, now: Int64) -> Int64 {
        // Accurate to a day, which is enough for a century.
        let latest = 1970 + now / 31_556_952 + 50
        let full = latest / 100 * 100 + year
        return full > latest ? full - 100 : full
    }

    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    private static func seconds(_ day: String, _ month: String, _ year: String, _ time: String) -> Int64? {
        let clock = time.split(separator: ":", omittingEmptySubsequences: false).compactMap(ByteNumber.parse)
        guard let day = ByteNumber.parse(day), (1...31).contains(day),
            let month = months.firstIndex(of: month),
            let year = ByteNumber.parse(year), (1601...9999).contains(year),
            time.utf8.count == 8, clock.count == 3, clock[0] < 24, clock[1] < 60, clock[2] <= 60
        else { return nil }
        let days = daysSince1970(year: year, month: Int64(month) + 1, day: day)
        return days * 86_400 + clock[0] * 3600 + clock[1] * 60 + clock[2]
    }

    /// `days_from_civil` from Howard Hinnant, "chrono-Compatible Low-Level Date Algorithms". Valid from year 1.
    private static func daysSince1970(year: Int64, month: Int64, day: Int64) -> Int64 {
        let year = month <= 2 ? year - 1 : year
        let era = year / 400
        let yearOfEra = year - era * 400
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
        return era * 146_097 + dayOfEra - 719_468
    }
}

/// The `Retry-After` header: seconds, or a date (RFC 9110, section 10.2.3).
enum RetryAfter {
    /// Returns the requested delay, at most a year; zero for a date in the past, and `nil` for an invalid header.
    ///
    /// - Parameter now: Seconds since 1970.
    static func parse(_ text: String, now: Int64) -> Duration? {
        let text = String(text.trimmed)
        let year: Int64 = 365 * 86_400
        if !text.isEmpty, text.utf8.allSatisfy((UInt8(ascii: "0")...UInt8(ascii: "9")).contains) {
            return .seconds(min(ByteNumber.parse(text) ?? year, year))
        }
        return HTTPDate.parse(text, now: now).map { .seconds(min(max(0, $0 - now), year)) }
    }
}
