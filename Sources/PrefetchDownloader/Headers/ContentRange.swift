/// The `Content-Range` header of a partial response, or of a response to a range that cannot be satisfied
/// (RFC 9110, section 14.4).
enum ContentRange: Hashable, Sendable {
    /// `bytes 1048576-2097151/4194304`; `total` is `nil` for `*`.
    case bytes(ClosedRange<Int64>, total: Int64?)
    /// `bytes */4194304`
    case unsatisfied(total: Int64)

    /// Returns `nil` for anything that the RFC does not allow: a misread header would put bytes in the wrong
    /// place.
    init?(_ text: String) {
        let parts = text.split(separator: " ", omittingEmptySubsequences: false)
        guard parts.count == 2, parts[0].lowercased() == "bytes" else { return nil }
        let fields = parts[1].split(separator: "/", omittingEmptySubsequences: false)
        guard fields.count == 2 else { return nil }
        let total = ByteNumber.parse(fields[1])
        guard total != nil || fields[1] == "*" else { return nil }
        if fields[0] == "*" {
            guard let total else { return nil }
            self = .unsatisfied(total: total)
            return
        }
        let ends = fields[0].split(separator: "-", omittingEmptySubsequences: false)
        guard ends.count == 2, let first = ByteNumber.parse(ends[0]), let last = ByteNumber.parse(ends[1]),
            first <= last, last < total ?? .max
        else { return nil }
        self = .bytes(first...last, total: total)
    }
}
