import FileSystemTestSupport
import Testing

@testable import PrefetchDownloading

/// Headers as servers send them, and as those do who mean harm.
@Suite struct HeaderTests {
    @Test func contentRanges() {
        #expect(ContentRange("Bytes 0-0/1")?.bytes == 0..<1)
        let range = ContentRange("bytes 1048576-2097151/4194304")
        #expect(range?.bytes == 1_048_576..<2_097_152)
        #expect(range?.total == 4_194_304)
    }

    @Test(arguments: [
        "", "bytes", "bytes ", "bytes 0-0", "bytes 0-0/", "bytes /1", "bytes */*", "bytes 1-0/2",
        "bytes 0-2/2",
        "bytes -1-2/3", "bytes +1-2/3", "bytes 0x1-2/3", "bytes 1 -2/3", "bytes  1-2/3", "bytes 1-2/3/4",
        "items 0-1/2",
        "bytes 0-9223372036854775807/9223372036854775808", "bytes 0-1/18446744073709551616",
        "bytes 0-1/2,bytes 2-3/4",
        "bytes ٠-١/٢", "bytes 0-1-2/3", "bytes\t0-1/2", "bytes 0-1/2 ",
        // Of a length that is not known, and of nothing: nothing can be appended after these.
        "bytes 5-9/*", "bytes */4194304",
    ])
    func whatIsNoContentRange(text: String) {
        #expect(ContentRange(text) == nil)
    }

    @Test func contentLengths() {
        #expect(ByteNumber.contentLength("0") == 0)
        #expect(ByteNumber.contentLength(" 42 ") == 42)
        #expect(ByteNumber.contentLength("42, 42") == 42)
        #expect(ByteNumber.contentLength("9223372036854775807") == .max)
        for text in ["", "42, 43", "-1", "+1", "1e3", "0x10", "9223372036854775808", "4 2", "42,"] {
            #expect(ByteNumber.contentLength(text) == nil, "\(text)")
        }
    }

    @Test func entityTags() {
        #expect(EntityTag("\"abc\"")?.isStrong == true)
        #expect(EntityTag(" W/\"abc\" ")?.isStrong == false)
        #expect(EntityTag("\"\"")?.text == "\"\"")
        for text in [
            "", "abc", "\"", "w/\"abc\"", "\"a\"b\"", "\"a\r\nX: y\"", "\"a b\"", "\"\u{7F}\"", "\"a",
        ] {
            #expect(EntityTag(text) == nil, "\(text)")
        }
    }

    @Test(arguments: [
        "Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994",
    ])
    func datesInTheirThreeForms(text: String) {
        #expect(HTTPDate.parse(text, now: 1_700_000_000) == 784_111_777)
    }

    @Test func datesAtTheEdges() {
        #expect(HTTPDate.parse("Thu, 01 Jan 1970 00:00:00 GMT", now: 0) == 0)
        #expect(HTTPDate.parse("Thu, 29 Feb 2024 23:59:60 GMT", now: 0) == 1_709_251_200)
        #expect(HTTPDate.parse("Fri, 31 Dec 9999 23:59:59 GMT", now: 0) == 253_402_300_799)
        // More than 50 years ahead is in the past.
        #expect(HTTPDate.parse("Sunday, 06-Nov-80 08:49:37 GMT", now: 1_700_000_000) == 342_348_577)
        #expect(HTTPDate.parse("Sunday, 06-Nov-60 08:49:37 GMT", now: 1_700_000_000) == 2_866_956_577)
    }

    @Test(arguments: [
        "", "GMT", "Sun, GMT", "Sun, 06 Nov 1994 08:49:37 CET", "Sun, 06 Nov 1994 08:49:37",
        "Sun, 32 Nov 1994 08:49:37 GMT",
        "Sun, 06 Nov 1994 24:49:37 GMT", "Sun, 06 Nov 1994 8:49:37 GMT", "Sun, 06 Nov 99999 08:49:37 GMT",
        "Sun, 06 nov 1994 08:49:37 GMT", "Sun, -6 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-1994 08:49:37 GMT",
        "Sun, 06 Nov 1994 08:49:37:00 GMT", "Sun, 06 Nov 0000 08:49:37 GMT", "2024-02-29T00:00:00Z",
    ])
    func whatIsNoDate(text: String) {
        #expect(HTTPDate.parse(text, now: 1_700_000_000) == nil)
    }

    @Test func retryAfter() {
        let now: Int64 = 784_111_777
        #expect(RetryAfter.parse("0", now: now) == .zero)
        #expect(RetryAfter.parse(" 120 ", now: now) == .seconds(120))
        #expect(RetryAfter.parse("99999999999999999999999", now: now) == .seconds(31_536_000))
        #expect(RetryAfter.parse("Sun, 06 Nov 1994 08:50:37 GMT", now: now) == .seconds(60))
        #expect(RetryAfter.parse("Sun, 06 Nov 1994 08:48:37 GMT", now: now) == .zero)
        #expect(RetryAfter.parse("Fri, 31 Dec 9999 23:59:59 GMT", now: now) == .seconds(31_536_000))
        // By the clock of the server, an hour ahead.
        let (date, sent) = ("Sun, 06 Nov 1994 09:50:37 GMT", "Sun, 06 Nov 1994 09:49:37 GMT")
        #expect(RetryAfter.parse(date, sent: sent, now: now) == .seconds(60))
        #expect(RetryAfter.parse(date, sent: "now", now: now) == .seconds(3660))
        for text in ["", "-1", "1.5", "soon", "12s"] {
            #expect(RetryAfter.parse(text, now: now) == nil, "\(text)")
        }
    }

    /// Mutations of good headers, and bytes at random: nothing traps, and what is accepted makes sense.
    @Test func hostileHeadersDoNotTrap() {
        let seeds = [
            "bytes 0-1048575/4194304", "bytes */99", "Sun, 06 Nov 1994 08:49:37 GMT", "W/\"tag\"", "120",
            "42, 42",
        ]
        var generator = SeededGenerator(seed: 42)
        for _ in 0..<20_000 {
            var bytes = Array((seeds.randomElement(using: &generator) ?? "").utf8)
            for _ in 0..<Int.random(in: 1...6, using: &generator) {
                let index = Int.random(in: 0...bytes.count, using: &generator)
                switch Int.random(in: 0..<3, using: &generator) {
                case 0: bytes.insert(.random(in: 0...255, using: &generator), at: index)
                case 1: if index < bytes.count { bytes.remove(at: index) }
                default: bytes += bytes.prefix(index)
                }
            }
            let text = String(decoding: bytes, as: UTF8.self)
            if let range = ContentRange(text) {
                #expect(range.bytes.lowerBound >= 0 && range.bytes.upperBound <= range.total)
                #expect(!range.bytes.isEmpty)
            }
            if let tag = EntityTag(text) { #expect(!tag.text.contains("\r") && !tag.text.contains("\n")) }
            if let delay = RetryAfter.parse(text, now: 1_700_000_000) {
                #expect((.zero ... .seconds(31_536_000)).contains(delay))
            }
            _ = ByteNumber.contentLength(text)
        }
    }
}
