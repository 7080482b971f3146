import Foundation
import Testing

@testable import PrefetchCaching
@testable import cachectl

@Suite struct ReportTests {
    @Test func thePageIsPrintedAndNothingElse() async throws {
        let container = try Container()
        try await container.succeed("put", "k", "-", "--source", "feeds.example.org", input: text)
        try await container.succeed("put", "l", "-", "--source", "other", input: text)
        try await container.succeed("open", "l")
        for more in ["--quiet", "--json"] {
            let page = try await container.succeed("report", more).text
            #expect(page.hasPrefix("<!doctype html>\n") && page.hasSuffix("</html>\n"))
            #expect(page.contains("<bdi>feeds.example.org</bdi>") && page.contains("<bdi>k</bdi>"))
            #expect(page.contains("used 204 KiB, wasted 0 B"))
        }
    }
}

@Suite struct ReportPageTests {
    private static let hostile = "<script>alert(1)</script>&\"'\u{202E}gpj\u{1B}[2J\u{9B}\u{FFFF}]]>"

    private func page(
        name: String = "./AppData", sources: [SourceUsage] = [], weeks: [PrefetchFigures] = [],
        next: [EvictedFile] = []
    ) -> String {
        let weeks = weeks.enumerated().map { (Date(timeIntervalSince1970: Double($0) * 604_800), $1) }
        return ReportPage(
            name: name, time: 0, statistics: CacheStatistics(), freeBytes: 1 << 20, sources: sources,
            weeks: weeks, next: next
        ).text
    }

    private var full: String {
        get throws {
            var figures = PrefetchFigures()
            (figures[.usedBytes], figures[.wastedBytes]) = (3 << 20, 1 << 20)
            let next = [
                EvictedFile(kind: .item, key: try ItemKey(Self.hostile), chargedBytes: .max),
                EvictedFile(kind: .quarantined, key: nil, chargedBytes: 1),
            ]
            return page(
                name: Self.hostile, sources: [.sample(Self.hostile), .sample("", charged: -1)],
                weeks: [figures, PrefetchFigures()], next: next)
        }
    }

    /// Whether every element ends, in the right order.
    private func isWellFormed(_ page: String) -> Bool {
        var open: [Substring] = []
        for tag in page.matches(of: /<(\/?)([a-z0-9]+)[^>]*?(\/?)>/) {
            if tag.1 == "/" {
                guard open.popLast() == tag.2 else { return false }
            } else if tag.3 != "/" {
                open.append(tag.2)
            }
        }
        return open.isEmpty
    }

    @Test func namesAreHarmlessAndNobodyIsAskedForAnything() throws {
        let page = try full
        #expect(page.contains("&lt;script&gt;") && page.contains(#"\u{202E}"#))
        #expect(!page.unicodeScalars.contains { $0.isTerminalHazard && $0 != "\n" })
        #expect(isWellFormed(page) && isWellFormed(self.page()))
        #expect(!isWellFormed(page.replacing("&lt;script&gt;", with: "<script>")))
        for word in ["http:", "https:", "src=", "url(", "<script", "<link", "@import", "javascript"] {
            #expect(!page.contains(word), "\(word)")
        }
        #expect(page.contains("default-src 'none'"))
    }

    @Test func everyBarIsToldInWordsAndStaysWithinItsPicture() throws {
        let bars = try full.matches(
            of: /<svg .*?aria-labelledby="(.*?)"><title id="(.*?)">(.+?)<\/title>(.*?)<\/svg>/)
        #expect(bars.count == 6 && Set(bars.map(\.1)).count == 6)
        #expect(bars.allSatisfy { $0.1 == $0.2 })
        #expect(bars[2].3 == "used 3.0 MiB, wasted 1.0 MiB")
        #expect(bars[2].4.contains(#"class="s0" x="0" width="7500""#))
        #expect(bars[2].4.contains(#"class="s1" x="7500" width="2500""#))
        #expect(bars[5].4.contains(#"width="30""#), "what is small stays visible")
        #expect(bars[1].4.isEmpty && bars[3].4.isEmpty, "and nothing has no bar")
    }

    @Test func sourcesBeyondADozenAreOneAndOldWeeksAreLeftOut() {
        let page = page(
            sources: (0..<40).map { .sample("s\($0)", charged: 1000) },
            weeks: (0..<40).map { _ in PrefetchFigures() })
        #expect(page.contains(#"<th scope="row">29 others</th><td>29</td><td>28 KiB</td>"#))
        #expect(page.matches(of: /<th scope="row">19\d\d-/).count == ReportPage.mostRows)
    }
}
