import FileSystemTestSupport
import Foundation
import PrefetchCaching
import Testing

@testable import PrefetchDownloading

/// When a failed download is tried again.
@Suite struct PolicyTests {
    /// Waits from 1 to 60 seconds.
    private let configuration = DownloaderConfiguration(hosts: .any)

    @Test func theLongestWaitDoublesUpToItsBound() {
        let delays = (1...8).map { configuration.backoff(after: $0) { 1 } }
        #expect(delays == [1, 2, 4, 8, 16, 32, 60, 60].map { Duration.seconds($0) })
        #expect(configuration.backoff(after: .max) { 1 } == .seconds(60))
        #expect(configuration.backoff(after: 0) { 1 } == .seconds(1))
    }

    @Test func theWaitIsAnyPartOfIt() {
        #expect(configuration.backoff(after: 3) { 0 } == .zero)
        #expect(configuration.backoff(after: 3) { 0.25 } == .seconds(1))
        var generator = SeededGenerator(seed: 1)
        for failures in 1...200 {
            let delay = configuration.backoff(after: failures) { .random(in: 0...1, using: &generator) }
            #expect((.zero ... .seconds(60)).contains(delay))
        }
    }

    @Test func whatTheServerWantsIsTheLeast() {
        func delay(_ retryAfter: Duration?, _ failures: Int = 1) -> Duration? {
            configuration.retryDelay(after: .status(503, retryAfter: retryAfter), failures: failures) { 1 }
        }
        #expect(delay(nil) == .seconds(1))
        #expect(delay(.zero) == .seconds(1))
        #expect(delay(.seconds(120)) == .seconds(120))
        #expect(delay(.seconds(121)) == nil)
        #expect(delay(nil, 5) == nil)
    }

    @Test func whatWillNotChangeIsNotTriedAgain() {
        let lasting: [DownloadError.Reason] = [
            .unsupportedURL, .hostNotAllowed, .insecure, .tooManyRedirects(limit: 5), .redirect(to: "x"),
            .status(404, retryAfter: nil), .connection(.notTrusted), .tooLong(received: 2, announced: 1),
            .wrongLength(expected: 1, actual: 2), .wrongDigest(expected: [], actual: [1]),
            .undelimitedBody, .encoded("gzip"), .cache(.closed),
        ]
        for reason in lasting { #expect(!reason.isTransient, "\(reason)") }
        let passing: [DownloadError.Reason] = [
            .status(429, retryAfter: nil), .connection(.connectionLost), .connection(.cannotFindHost),
            .stalled(.seconds(60)), .truncated(received: 1, announced: 2), .partialLost, .wrongRange("x"),
        ]
        for reason in passing { #expect(reason.isTransient, "\(reason)") }
    }

    @Test func whatADateIsGoodFor() {
        let date = Validator(lastModified: "Sun, 06 Nov 1994 08:49:37 GMT")
        let both = Validator(entityTag: "W/\"1\"", lastModified: date.lastModified)
        let tag = Validator(entityTag: "\"1\"")
        #expect(date.rangeCondition(now: 0) == date.lastModified)
        #expect(both.rangeCondition(now: 0) == date.lastModified)
        #expect(tag.rangeCondition(now: 0) == "\"1\"")
        #expect(Validator().rangeCondition(now: .max / 1000) == nil)
        #expect(Validator(lastModified: "a\r\nb").rangeCondition(now: 0) == nil)

        let undated = ResponseHead(status: 200, fields: [])
        let late = ResponseHead(status: 200, fields: [("Date", "Sun, 06 Nov 1994 08:50:37 GMT")])
        let early = ResponseHead(status: 200, fields: [("Date", "Sun, 06 Nov 1994 08:50:36 GMT")])
        for validator in [date, both] {
            #expect(validator.isStrong(in: late, now: 0))
            #expect(!validator.isStrong(in: early, now: .max / 1000))
            #expect(!validator.isStrong(in: undated, now: .max / 1000))
        }
        #expect(tag.isStrong(in: undated, now: 0))
        #expect(!Validator(entityTag: "W/\"1\"").isStrong(in: late, now: 0))
    }

    @Test func digestsInHexadecimal() {
        let text = String(repeating: "0aF9", count: 16)
        #expect(
            ContentExpectation.sha256(hexadecimal: text)
                == .sha256(Array(repeatElement([0x0A, 0xF9], count: 16).joined())))
        for text in [
            "", "00", String(repeating: "g", count: 64), text + "0", String(repeating: "+1", count: 32),
        ] {
            #expect(ContentExpectation.sha256(hexadecimal: text) == nil)
        }
    }
}
