import Foundation
import SystemPackage
import Testing

@testable import PrefetchCaching
@testable import cachectl

@Suite struct ReportPageTests {
    private static let hostile = "<script>alert(1)</script>&\"'\u{202E}gpj\u{1B}[2J\u{9B}\u{FFFF}]]>"

    private func item(
        _ key: String, _ source: String = "feed", charged: Int64 = 1024, storedAt: Int64 = 0,
        _ encoding: ItemEncoding = .lz4
    ) throws -> CachedItem {
        CachedItem(
            key: try ItemKey(key), source: source, intent: .opportunistic, destination: .documents("n"),
            encoding: encoding, contentBytes: charged, storedBytes: charged, chargedBytes: charged,
            priority: 0, storedAt: storedAt, expiresAt: nil, lastUse: 1)
    }

    private func holdings(_ items: [CachedItem], _ promoted: [PromotedFile] = [], now: Int64 = 0) -> Holdings
    {
        Holdings(
            items: items, partials: [], promoted: promoted, catalogBytes: 100, damagedItems: 0,
            chargedBytes: items.reduce(0) { $0 + $1.chargedBytes }, now: now)
    }

    private func file(_ key: String, in area: Area, length: Int64?) throws -> PromotedFile {
        PromotedFile(
            key: try ItemKey(key), path: "/x", location: try #require(AreaPath(area: area, relative: "x")),
            folder: nil, name: "x", backup: .include, contentBytes: 9, contentChecksum: 0, openedAt: 0,
            provenance: nil, isAdopted: nil, presentBytes: length, isFirstOpen: false, parts: [])
    }

    private var contents: ContainerContents {
        ContainerContents(
            groups: [
                .init(area: .caches, purpose: "cached items", isForeign: false, files: 3, bytes: 3 << 20),
                .init(
                    area: .documents, purpose: Self.hostile, isForeign: true, files: 1, bytes: 2 << 20,
                    backedUpBytes: 1 << 20),
                .init(area: nil, purpose: "other files", isForeign: false, files: 1, bytes: 0),
            ], findings: [], problems: 0)
    }

    private func page(
        _ items: [CachedItem], name: String = "./AppData", events: [JournalEntry] = []
    ) -> String {
        var statistics = CacheStatistics()
        statistics.items = items.count
        let capacity = CapacityModel().capacity(of: VolumeState(total: 100 << 30, available: 40 << 30))
        let report = CapacityReport(
            capacity: capacity, pressure: .normal, configuredBudget: .automatic, budgetBytes: capacity.budget,
            ceilingBytes: capacity.budget, largestItemBytes: 1, chargedBytes: 4096, heldBytes: 0,
            catalogBytes: 100, refusal: nil)
        return ReportPage(
            name: name, time: 0, statistics: statistics, capacity: report, holdings: holdings(items),
            events: events, contents: contents
        ).text
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

    @Test func namesAreHarmless() throws {
        var event = JournalEntry.sample(.left, Self.hostile, Self.hostile)
        event.source = Self.hostile
        let page = try page([item(Self.hostile, Self.hostile)], name: Self.hostile, events: [event])
        #expect(!page.contains("<script"))
        #expect(page.contains("&lt;script&gt;"))
        #expect(page.contains(#"\u{202E}"#))
        #expect(!page.unicodeScalars.contains { $0.isTerminalHazard && $0 != "\n" })
        #expect(isWellFormed(page))
        #expect(!isWellFormed(page.replacing("&lt;script&gt;", with: "<script>")))
    }

    @Test func nobodyIsAskedForAnything() throws {
        let page = try page([item("k")])
        for word in ["http:", "https:", "src=", "url(", "<script", "<link", "@import", "javascript"] {
            #expect(!page.contains(word), "\(word)")
        }
        #expect(page.contains("default-src 'none'"))
    }

    @Test func everyPictureIsToldInWords() throws {
        let page = try page([item("k"), item("l", "another", .identity)])
        let pictures = page.matches(of: /<svg .*?<\/svg>/).map(\.0)
        #expect(pictures.count == 2 + 4 + 5 + 2 + 1 + 1)
        var ids: Set<Substring> = []
        for picture in pictures {
            let match = try #require(
                picture.firstMatch(
                    of:
                        /role="img" aria-labelledby="(.*?)-t (.*?)-d"><title id="(.*?)-t">.+?<\/title><desc id="(.*?)-d">.+?<\/desc>/
                ))
            #expect(match.1 == match.2 && match.1 == match.3 && match.1 == match.4)
            #expect(ids.insert(match.1).inserted)
        }
    }

    @Test func theLastEventsAreInItNewestFirst() throws {
        let events = (0..<300).map { JournalEntry.sample(.left, "key \($0)", "budget", second: $0) }
        let page = page([], events: events)
        #expect(isWellFormed(page))
        let keys = page.matches(of: /<bdi>key ([0-9]+)</).map { Int64($0.1) }
        #expect(keys == Array((100..<300).reversed()))
        #expect(page.contains("evicted for the budget, never used"))
        #expect(page.contains("The last 200 of 300"))
    }

    @Test func anEmptyCacheHasAPage() throws {
        let page = page([])
        #expect(isWellFormed(page))
        #expect(page.contains("Nothing here."))
    }

    @Test func bytesAreAddedUpFromEverySide() throws {
        let hour: Int64 = 3_600_000
        let holdings = try holdings(
            [
                item("a", "x", charged: 1000, storedAt: 100 * hour), item("b", "x", charged: 500, .identity),
                item("c", "", charged: 200, storedAt: 99 * hour),
            ],
            [
                file("d", in: .documents, length: 70), file("e", in: .applicationSupport, length: 30),
                file("f", in: .documents, length: nil),
            ], now: 100 * hour)
        #expect(holdings.areas.map(\.bytes) == [1800, 70, 30, 0])
        #expect(holdings.areas.map(\.count) == [3, 1, 1, 0])
        #expect(holdings.sources.map(\.name) == ["x", "no source"])
        #expect(holdings.sources.map(\.bytes) == [1500, 200])
        #expect(holdings.ages.map(\.bytes) == [1000, 200, 500, 0, 0])
        #expect(holdings.encodings.map(\.bytes) == [1200, 500])
        #expect(holdings.largest.map(\.key.string) == ["a", "b", "c"])
        #expect(holdings.files.map(\.key.string) == ["d", "e"])
        #expect(holdings.movedFiles == 1)
    }

    @Test func sourcesBeyondADozenAreOne() throws {
        let holdings = try holdings((0..<40).map { try item("k\($0)", "s\($0)", charged: Int64(1000 - $0)) })
        #expect(holdings.sources.count == 13)
        #expect(holdings.sources.last?.name == "28 others")
        #expect(holdings.sources.reduce(0) { $0 + $1.bytes } == holdings.ages.reduce(0) { $0 + $1.bytes })
    }

    @Test func segmentsStayWithinTheirBar() {
        let picture = BarPicture(
            title: "t", description: "d",
            segments: [
                .init(style: "s1", amount: .max), .init(style: "s2", amount: 5),
                .init(style: "s3", amount: -1),
            ],
            whole: 10, marks: [-5, 50])
        #expect(picture.svg(id: "i").contains("width=\"10000\" height=\"10\"/><rect class=\"mark\" x=\"0\""))
        #expect(!picture.svg(id: "i").contains("s2"))
        #expect(!BarPicture(title: "", description: "", segments: [], whole: 0).svg(id: "i").contains("s1"))
    }
}
