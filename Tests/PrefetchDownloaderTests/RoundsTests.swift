import Foundation
import Testing

@testable import PrefetchCaching
@testable import PrefetchDownloading

/// Which requests are of one list.
@Suite struct RoundsTests {
    private func request(_ name: String, from source: String = "feed") throws -> DownloadRequest {
        var request = DownloadRequest(
            try #require(URL(string: "https://example.org/\(name)")), try ItemKey(name))
        request.source = source
        return request
    }

    /// The list that a request joins when it is handed over at a time.
    private func round(_ name: String, from source: String = "feed", at now: Int64, in rounds: inout Rounds)
        throws -> Round
    {
        let request = try request(name, from: source)
        rounds.begin(with: request, now: now)
        return rounds.turn(of: request).round
    }

    @Test func eachSourceHasItsOwn() throws {
        var rounds = Rounds()
        let first = try round("a", at: 0, in: &rounds)
        #expect(try round("b", at: 0, in: &rounds) === first)
        #expect(try round("c", from: "other", at: 0, in: &rounds) !== first)
    }

    @Test func whatIsHandedOverAgainBeginsTheListAgain() throws {
        var rounds = Rounds()
        let first = try round("a", at: 0, in: &rounds)
        #expect(try round("a", at: 1, in: &rounds) !== first)
    }

    @Test(arguments: [(Int64(60), true), (61, false), (-1, false)])
    func aPauseOfMoreThanAMinuteEndsIt(seconds: Int64, isSame: Bool) throws {
        var rounds = Rounds()
        let first = try round("a", at: 1000, in: &rounds)
        // As long as downloads are under way, it goes on.
        #expect(try round("b", at: 5000, in: &rounds) === first)
        rounds.pause(now: 10_000)
        #expect((try round("c", at: 10_000 + seconds, in: &rounds) === first) == isSame)
    }

    @Test func aDayEndsIt() throws {
        var rounds = Rounds()
        let first = try round("a", at: 1000, in: &rounds)
        #expect(try round("b", at: 87_400, in: &rounds) === first)
        #expect(try round("c", at: 87_401, in: &rounds) !== first)
    }
}
