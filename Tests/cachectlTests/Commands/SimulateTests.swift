import Foundation
import Testing

@testable import PrefetchCaching
@testable import cachectl

#if canImport(FoundationXML)
    import FoundationXML
#endif

@Suite struct SimulateTests {
    let container: Container

    init() throws {
        container = try Container()
    }

    /// Stores noise of 100,000 bytes, of which a simulated cache of 256 KiB holds two.
    private func put(_ key: String, bytes: Int = 100_000) throws {
        try container.succeed(
            "put", key, "-", "--source", "feed", "--to", "documents",
            input: noise(bytes, seed: UInt64(key.count)))
    }

    private func rows(_ arguments: String...) throws -> [[String: Any]] {
        let outcome = try Tool.run(
            Tool.path, ["simulate", "--json", "--container", container.root.path] + arguments,
            in: container.folder)
        #expect(outcome.status == 0 && outcome.errors.isEmpty, "\(outcome.errors)")
        return try outcome.text.split(separator: "\n").map { line in
            try #require(JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
        }
    }

    private func row(_ rows: [[String: Any]], _ budget: Int, _ policy: String) throws -> [String: Any] {
        try #require(rows.first { $0["budgetBytes"] as? Int == budget && $0["policy"] as? String == policy })
    }

    private func expect(
        _ row: [String: Any], _ numbers: [String: Int], sourceLocation: SourceLocation = #_sourceLocation
    ) {
        for (name, number) in numbers {
            #expect(row[name] as? Int == number, "\(name)", sourceLocation: sourceLocation)
        }
    }

    @Test func aSmallerBudgetMissesWhatItHadToEvict() throws {
        try container.succeed("configure", "--budget", "8MiB", "--largest", "1MiB")
        for key in ["a", "bb", "ccc"] { try put(key) }
        try container.succeed("open", "ccc")
        try container.succeed("open", "a")
        let rows = try rows("--budget", "256KiB,8MiB", "--policy", "lru")
        #expect(rows.count == 2)
        // Two fit: 'a' gives way to 'ccc', and is missed; 'bb' is there to the end.
        expect(
            try row(rows, 256 << 10, "lru"),
            [
                "lookups": 2, "hits": 1, "hitBytes": 100_000, "lookupBytes": 200_000,
                "downloadedBytes": 300_000,
                "wastedBytes": 100_000, "arrivals": 3,
            ])
        expect(
            try row(rows, 8 << 20, "lru"),
            ["lookups": 2, "hits": 2, "hitBytes": 200_000, "downloadedBytes": 300_000, "wastedBytes": 0])
        #expect(rows.map { $0["isInForce"] as? Bool } == [false, true])
    }

    @Test func readingKeepsAnItemInUse() throws {
        try container.succeed("configure", "--budget", "8MiB", "--largest", "1MiB")
        try put("a")
        try put("bb")
        try container.succeed("cat", "a")
        try put("ccc")
        try container.succeed("cat", "a")
        try container.succeed("cat", "bb")
        let rows = try rows("--budget", "256KiB", "--policy", "lru,fifo")
        // LRU evicts 'bb', which was used least recently, FIFO 'a', which was stored first.
        expect(try row(rows, 256 << 10, "lru"), ["lookups": 3, "hits": 2, "wastedBytes": 100_000])
        expect(try row(rows, 256 << 10, "fifo"), ["lookups": 3, "hits": 2, "wastedBytes": 0])
    }

    @Test func whatIsInForceWouldHaveDoneWhatItDid() throws {
        // For four items: with their catalog, they fill less than nine tenths, below which nothing is trimmed.
        try container.succeed("configure", "--budget", "4800000", "--largest", "2MiB")
        for number in 1...9 {
            try put(String(repeating: "k", count: number), bytes: 1_000_000)
            if number % 3 == 0 {
                let last = String(repeating: "k", count: number - 1)
                try container.succeed("open", last)
            }
        }
        #expect(try container.cachectl("open", "k").status == 66)
        let figures = try #require(container.json("stats")["figures"] as? [String: Any])
        let row = try #require(try rows().first { $0["isInForce"] as? Bool == true })
        #expect(figures["leftForBudget"] as? Int ?? 0 > 0)
        for (name, figure) in [
            ("hits", "hits"), ("hitRatio", "hitRatio"), ("downloadedBytes", "storedBytes"),
            ("wastedBytes", "wastedBytes"), ("hitBytes", "usedBytes"),
        ] {
            #expect(row[name] as? Double == figures[figure] as? Double, "\(name)")
        }
    }

    @Test func whatWasRefusedForLackOfRoomArrivesWhereThereIsRoom() throws {
        try container.succeed("configure", "--budget", "330000", "--largest", "200KiB")
        for key in ["a", "bb"] {
            try container.succeed(
                "put", key, "-", "--priority", "1", input: noise(100_000, seed: UInt64(key.count)))
        }
        // Of a pipe the length would not be known.
        let file = try container.folder.write(noise(100_000, seed: 3), to: "ccc")
        for _ in 0..<2 { #expect(try container.cachectl("put", "ccc", file.path).status == 75) }
        #expect(try container.cachectl("open", "ccc").status == 66)
        let rows = try rows("--budget", "8MiB", "--policy", "lru")
        expect(
            try row(rows, 8 << 20, "lru"),
            ["arrivals": 3, "lookups": 1, "hits": 1, "downloadedBytes": 300_000, "wastedBytes": 0])
    }

    @Test func anItemThatIsStoredAgainIsDownloadedAgainOnlyWhereItHadGone() throws {
        try container.succeed("configure", "--budget", "256KiB", "--largest", "200KiB")
        for key in ["a", "bb", "ccc", "a"] { try put(key) }
        let rows = try rows("--budget", "256KiB,8MiB", "--policy", "lru")
        expect(try row(rows, 256 << 10, "lru"), ["downloadedBytes": 400_000, "wastedBytes": 200_000])
        expect(try row(rows, 8 << 20, "lru"), ["downloadedBytes": 300_000, "wastedBytes": 0])
    }

    @Test func aNewerVersionAndARemovedItemAreWastedWithAnyBudget() throws {
        try container.succeed("configure", "--budget", "8MiB", "--largest", "1MiB")
        for key in ["a", "bb"] { try put(key) }
        try container.succeed("put", "a", "-", "--to", "documents", input: noise(50_000, seed: 9))
        try container.succeed("evict", "bb")
        expect(
            try row(try rows(), 8 << 20, "lru"),
            ["arrivals": 3, "downloadedBytes": 250_000, "wastedBytes": 200_000])
    }

    @Test func theFirstDaysAreNotCounted() throws {
        try put("a")
        try container.succeed("open", "a")
        let row = try #require(try rows("--warm-up", "1h").first)
        expect(row, ["arrivals": 1, "lookups": 0, "downloadedBytes": 0])
        #expect(row["hitRatio"] is NSNull)
        #expect(try container.cachectl("simulate", "--since", "0s").status == 66)
    }

    @Test func theTableSaysWhichTimeItCoversAndWhatIsInForce() throws {
        try container.succeed("configure", "--budget", "8MiB", "--largest", "1MiB")
        try put("a")
        try container.succeed("open", "a")
        let lines = try container.succeed("simulate", "--budget", "8MiB,16MiB").text
            .split(separator: "\n").map(String.init)
        #expect(lines.count == 7)
        #expect(
            lines[0].wholeMatch(
                of: #/the journal covers 0\.0 days, from \S+Z to \S+Z: 1 arrival/#) != nil, "\(lines[0])")
        #expect(lines[1] == "so few days make rough figures")
        #expect(
            lines[2].split(separator: " ") == [
                "BUDGET", "POLICY", "HITS", "OF", "HIT-RATIO", "BYTES-HIT", "DOWNLOADED", "WASTED",
            ])
        #expect(
            lines[3].hasPrefix(
                "8.0 MiB  lru        1   1      100 %     98 KiB      98 KiB     0 B  in force"))
        #expect(!lines[4].contains("in force") && lines[4].hasPrefix("8.0 MiB  value"))
    }

    @Test func thePictureIsXMLWithALineForEachPolicy() throws {
        try container.succeed("configure", "--budget", "256KiB", "--largest", "200KiB")
        for key in ["a", "bb", "ccc"] { try put(key) }
        #expect(try container.cachectl("open", "a").status == 66)
        let file = container.folder.url.appending(path: "ratio.svg")
        try container.succeed(
            "simulate", "--budget", "128KiB,1MiB", "--policy", "lru,value", "--svg", file.path)
        let reader = SVGReader()
        let parser = XMLParser(data: try Data(contentsOf: file))
        parser.delegate = reader
        #expect(parser.parse(), "\(String(describing: parser.parserError))")
        #expect(reader.elements["svg"] == 1 && reader.elements["style"] == 1)
        #expect(reader.elements["polyline"] == 2)
        // At 256 KiB there is only what is in force.
        #expect(reader.points == [3, 2])
        #expect(reader.styles.filter { $0 == "now" }.count == 2)
        // It is replaced only if that is wanted.
        #expect(try container.cachectl("simulate", "--svg", file.path).status == 73)
        try container.succeed("simulate", "--svg", file.path, "--force")
    }

    private final class SVGReader: NSObject, XMLParserDelegate {
        private(set) var elements: [String: Int] = [:]
        private(set) var styles: [String] = []
        private(set) var points: [Int] = []

        func parser(
            _ parser: XMLParser, didStartElement name: String, namespaceURI: String?,
            qualifiedName: String?, attributes: [String: String]
        ) {
            elements[name, default: 0] += 1
            if let style = attributes["class"] { styles.append(style) }
            if let line = attributes["points"] { points.append(line.split(separator: " ").count) }
        }
    }

    @Test func nothingIsLeftInTheTemporaryFolder() throws {
        try put("a")
        let temporary = container.folder.url.appending(path: "tmp", directoryHint: .isDirectory)
        try FileManager.default.createDirectory(at: temporary, withIntermediateDirectories: false)
        let outcome = try Tool.run(
            Tool.path, ["simulate", "--container", container.root.path],
            environment: ["TMPDIR": temporary.path], in: container.folder)
        #expect(outcome.status == 0)
        #expect(try FileManager.default.contentsOfDirectory(atPath: temporary.path) == [])
    }

    @Test(arguments: [
        (["--budget", "0"], "a budget of 0 holds nothing"),
        (["--budget", "1GiB,"], "it is empty"),
        (["--budget", "-1"], "it is negative"),
        (["--budget", "much"], "it is not a size"),
        (["--policy", "lfu"], "there is no policy 'lfu'"),
        (["--policy", "lru,"], "there is no policy ''"),
        (["--since", "soon"], "soon"),
        (["--warm-up", "-1d"], "-1d"),
        (["--force"], "--force is for --svg"),
        (["--svg", ""], "--svg needs the name of a file"),
    ])
    func badInputIsExplained(_ arguments: [String], _ reason: String) throws {
        try put("a")
        let outcome = try Tool.run(
            Tool.path, ["simulate", "--container", container.root.path] + arguments, in: container.folder)
        #expect(outcome.status == 64)
        #expect(outcome.errors.contains(reason), "\(outcome.errors)")
    }

    @Test func anEmptyJournalSaysSo() throws {
        let outcome = try container.cachectl("simulate")
        #expect(outcome.status == 66)
        #expect(outcome.errors.contains("there is nothing to replay yet"))
    }
}

/// What the journal is taken for.
@Suite struct JournalTraceTests {
    private func entry(
        _ kind: JournalEntry.Kind, _ key: String, at time: Int64 = 0, source: String = "feed",
        reason: String = "", bytes: Int64 = 0, count: Int64 = 1
    ) -> JournalEntry {
        JournalEntry(
            time: time, kind: kind, count: count, key: key, source: source, reason: reason,
            contentBytes: bytes, chargedBytes: bytes)
    }

    private func acts(_ entries: JournalEntry..., since: Int64? = nil) -> [JournalTrace.Act] {
        JournalTrace(entries, since: since).events.map(\.act)
    }

    private func arrival(_ bytes: Int64, isNew: Bool = false) -> JournalTrace.Act {
        .arrival(source: "feed", contentBytes: bytes, chargedBytes: bytes, isNew: isNew)
    }

    @Test func whatNeverArrivedIsNotFollowed() {
        #expect(acts(entry(.missed, "a"), entry(.opened, "a"), entry(.read, "a")) == [])
        #expect(acts(entry(.stored, "a", bytes: 5), entry(.opened, "a", at: 9), since: 1) == [])
    }

    @Test func aRefusalIsAnArrivalOnceUntilTheItemIsStored() {
        let refused = entry(.refused, "a", reason: "lowPriority", bytes: 7)
        #expect(
            acts(refused, refused, entry(.stored, "a", bytes: 5), refused) == [
                arrival(7), arrival(5), arrival(7),
            ])
        #expect(acts(entry(.refused, "a", reason: "overBudget")) == [])
        #expect(acts(entry(.refused, "a", reason: "disabled", bytes: 7)) == [])
    }

    @Test func aMissIsAReadWhereItemsAreOnlyRead() {
        let (stored, missed) = (entry(.stored, "a", bytes: 5), entry(.missed, "a", count: 3))
        #expect(acts(stored, missed) == [arrival(5), .open(count: 3)])
        #expect(
            acts(stored, entry(.read, "a"), missed) == [arrival(5), .read(count: 1), .read(count: 3)])
    }

    @Test func anItemThatIsStoredAfterItWasOpenedIsNew() {
        let stored = entry(.stored, "a", bytes: 5)
        #expect(
            acts(stored, entry(.opened, "a"), stored) == [
                arrival(5), .open(count: 1), arrival(5, isNew: true),
            ])
    }

    @Test func onlyWhatNoBudgetChangesLeaves() {
        for departure in Departure.allCases where departure != .opened {
            let isTold = ![.budget, .pressure].contains(departure)
            #expect(
                acts(entry(.left, "a", reason: departure.rawValue)) == (isTold ? [.departure(departure)] : [])
            )
        }
    }

    @Test func nonsenseIsPassedOver() {
        #expect(
            acts(
                entry(.stored, "a", bytes: -1), entry(.stored, "b", bytes: .max),
                entry(.stored, "c", bytes: 1, count: .max), entry(.stored, "", bytes: 1)) == [])
        let trace = JournalTrace([
            entry(.stored, "a", at: .max, bytes: 1), entry(.stored, "b", at: .min, bytes: 1),
        ])
        let end: Int64 = 253_402_300_799_999
        #expect(trace.events.map(\.time) == [end, end])
        #expect(JournalTrace([]).days == 0)
    }
}
