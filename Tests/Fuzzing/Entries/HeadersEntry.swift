import PrefetchCaching

@testable import PrefetchDownloading

/// The headers of an answer, a line each.
func fuzzHeaders(_ input: [UInt8]) throws {
    let text = String(decoding: input, as: UTF8.self)
    let fields = text.unicodeScalars.split(separator: "\n").map { line -> (name: String, value: String) in
        let parts = line.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        return (String(parts[0]), parts.count > 1 ? String(parts[1]) : "")
    }
    try requireSound(ResponseHead(status: 206, fields: fields))
    var lines = HeadLines()
    for line in input.split(separator: 0x0A, omittingEmptySubsequences: false) {
        if let head = try lines.add(line) { try requireSound(head) }
    }
    // Every value for every header: the names are not what a fuzzer should have to find.
    for (_, value) in fields.prefix(4) {
        let names = ["Content-Length", "Content-Range", "ETag", "Retry-After", "Last-Modified", "Date"]
        try requireSound(ResponseHead(status: 200, fields: names.map { ($0, value) }))
    }
}

private func requireSound(_ head: ResponseHead) throws {
    try require(head.contentLength ?? 0 >= 0, "a length is not negative")
    if let range = head.contentRange {
        try require(
            range.bytes.lowerBound >= 0 && range.bytes.upperBound <= range.total && !range.bytes.isEmpty,
            "a range lies within the whole")
    }
    if let tag = head.entityTag?.text {
        try require(tag.hasSuffix("\"") && !tag.utf8.contains { $0 < 0x20 }, "a tag can go into a header")
    }
    if let delay = head.retryAfter {
        try require(delay >= .zero && delay <= .seconds(365 * 86_400), "nobody waits for longer than a year")
    }
    let validator = Validator(head)
    if let date = validator.lastModified {
        if let seconds = HTTPDate.parse(date) {
            try require((-11_644_473_600...253_402_387_200).contains(seconds), "a date is one")
        }
        try require(!date.utf8.contains { $0 < 0x20 }, "and can go into a header")
    }
    if let condition = validator.rangeCondition {
        try require(!condition.utf8.contains { $0 < 0x20 }, "so can a condition")
    }
    _ = validator.isStrong(in: head)
    _ = head.marksEnd(isSecure: false)
}
