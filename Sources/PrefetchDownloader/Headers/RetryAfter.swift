/// The `Retry-After` header: seconds, or a date (RFC 9110, section 10.2.3).
enum RetryAfter {
    /// Returns how long the server asks to wait, at most a year; zero for a date that has passed, and `nil`
    /// for a header that is neither.
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
