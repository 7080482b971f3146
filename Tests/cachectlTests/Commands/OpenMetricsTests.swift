import Foundation
import Testing

@testable import PrefetchCaching
@testable import cachectl

/// What Prometheus is told.
@Suite struct OpenMetricsTests {
    private let container: Container

    init() throws {
        container = try Container()
    }

    /// A cache that has counted something of everything that needs no accident.
    private func usedContainer() async throws -> Container {
        for key in ["a", "b", "c"] {
            try await container.succeed("put", key, "-", "--source", "feed", input: text)
        }
        try await container.succeed("cat", "a")
        try await container.succeed("open", "b")
        #expect(try await container.cachectl("cat", "x").status == 66)
        try await container.succeed("evict", "--bytes", "1")
        try await container.succeed("configure", "--storing", "off")
        #expect(try await container.cachectl("put", "d", "-", input: text).status == 75)
        return container
    }

    private func printed() async throws -> Exposition {
        try Exposition(await usedContainer().succeed("stats", "--openmetrics").text)
    }

    @Test func theSeriesAreTheFiguresOfTheCache() async throws {
        let series = try await printed().series
        let labels = #"{container="\#(container.root.path)""#
        func value(_ name: String, _ label: String = "") -> Double? {
            series["prefetchcache_\(name)\(labels)\(label)}"]
        }
        let statistics = try await container.json("stats")
        #expect(value("cached_items") == 1)
        #expect(value("budget_bytes") == statistics["budgetBytes"] as? Double)
        #expect(value("charged_bytes") == statistics["chargedBytes"] as? Double)
        #expect(value("pressure_level") == 0)
        #expect(value("stored_items_total") == 3)
        #expect(value("source_stored_items_total", #",source="feed""#) == 3)
        #expect(value("lookups_total", #",result="opened""#) == 1)
        #expect(value("lookups_total", #",result="missed""#) == 1)
        #expect(value("first_use_delay_seconds_count") == 2)
        #expect(value("refused_items_total", #",reason="disabled""#) == 1)
        #expect(value("left_items_total", #",reason="request""#) == 1)
        let left = series.filter { $0.key.hasPrefix("prefetchcache_left_items_total") }.values.reduce(0, +)
        #expect(value("stored_items_total") == left + 1)
    }

    @Test func thePressureIsANumber() async throws {
        try await container.configure(Container.critical)
        let series = try Exposition(await container.succeed("stats", "--openmetrics").text).series
        #expect(series.first { $0.key.hasPrefix("prefetchcache_pressure_level") }?.value == 3)
    }

    // MARK: The format

    @Test func whatTheFormatGivesAMeaningIsEscaped() throws {
        let family = MetricFamily(
            name: "m_total", kind: .counter, help: "a\\b\n\"c\"", label: "l",
            samples: [.init(label: "\\ \" \n é", value: "1")])
        #expect(
            OpenMetrics.text(of: [family], labels: [("app", "x\"")]) == #"""
                # HELP m_total a\\b\n"c"
                m_total{app="x\"",l="\\ \" \n é"} 1
                # EOF
                """#)
    }

    @Test func onlyTheLargestSourcesAreApartAndTheTotalsAreThoseOfAll() throws {
        var rows = HistoryRows()
        for number in 1...150 {
            var figures = PrefetchFigures()
            figures[.stored] = 1
            figures[.storedBytes] = Int64(number)
            rows.add(figures, day: 20_000, source: SourceName("feed \(number)"))
        }
        let families = MetricFamily.sums(of: PrefetchHistory(rows, since: nil))
        let sources = try #require(families.first { $0.name == "prefetchcache_source_stored_items_total" })
        #expect(
            sources.samples.map(\.label) == (51...150).reversed().map { "feed \($0)" })
        let total = try #require(families.first { $0.name == "prefetchcache_stored_items_total" })
        #expect(total.samples.map(\.value) == ["150"])
    }

    @Test func sourcesThatLookTheSameAreOneSeries() throws {
        var rows = HistoryRows()
        for source in ["a\n", "a\\u{A}", "b"] {
            var figures = PrefetchFigures()
            figures[.stored] = 1
            rows.add(figures, day: 20_000, source: SourceName(source))
        }
        let families = MetricFamily.sums(of: PrefetchHistory(rows, since: nil))
        let series = try Exposition(OpenMetrics.text(of: families, labels: []) + "\n").series
        #expect(series[#"prefetchcache_source_stored_items_total{source="a\\u{A}"}"#] == 2)
        #expect(series[#"prefetchcache_source_stored_items_total{source="b"}"#] == 1)
    }

    // MARK: The parsers of others

    /// A name that means something to everything on its way.
    private static let oddSource = #"a\n "b" {c="d"} # é 日"#

    @Test(
        .enabled(
            if: isInstalled("python3", "-c", "import prometheus_client.openmetrics.parser"),
            "prometheus_client is missing; '.ci/setup --servers' installs it."),
        arguments: ["prometheus_client.parser", "prometheus_client.openmetrics.parser"])
    func thePythonParsersReadIt(_ parser: String) async throws {
        let script = """
            import sys
            from \(parser) import text_string_to_metric_families as parse
            text = open("metrics.prom", encoding="utf-8", newline="").read()
            samples = [sample for family in parse(text) for sample in family.samples]
            assert all(family.documentation for family in parse(text))
            print(len(samples))
            print(*sorted({s.labels["source"] for s in samples if "source" in s.labels}), sep="\\n")
            """
        let used = try await usedContainer()
        try await used.succeed("configure", "--storing", "on")
        try await used.succeed("put", "odd", "-", "--source", Self.oddSource, input: text)
        let text = try await used.succeed("stats", "--openmetrics").output
        try used.folder.write(text, to: "metrics.prom")
        let outcome = try Tool.start("/usr/bin/env", ["python3", "-c", script], in: used.folder)
        #expect(outcome.status == 0 && outcome.errors.isEmpty, "\(outcome.errors)")
        let lines = outcome.text.split(separator: "\n", omittingEmptySubsequences: false).dropLast()
        #expect(
            try lines.first.flatMap { Int($0) }
                == Exposition(String(decoding: text, as: UTF8.self)).series.count)
        #expect(Set(lines.dropFirst().map { String($0) }) == ["", "feed", Self.oddSource])
    }

    @Test(
        .enabled(if: isInstalled("promtool", "--version"), "promtool is missing; it comes with Prometheus."))
    func promtoolHasNothingToSay() async throws {
        let text = try await usedContainer().succeed("stats", "--openmetrics").output
        let outcome = try Tool.start(
            "/usr/bin/env", ["promtool", "check", "metrics"], input: text, in: container.folder)
        #expect(outcome.status == 0)
        #expect(outcome.text.isEmpty && outcome.errors.isEmpty, "\(outcome.text)\(outcome.errors)")
    }

    private static func isInstalled(_ command: String...) -> Bool {
        do {
            return try Tool.start("/usr/bin/env", command, in: TemporaryFolder()).status == 0
        } catch {
            return false
        }
    }

    // MARK: The documentation

    private static let package = URL(filePath: #filePath).resolvingSymlinksInPath()
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    @Test func theTableOfTheArticleIsWhatIsPrinted() async throws {
        let article = try String(
            contentsOf: Self.package.appending(
                path: "Sources/PrefetchCaching/PrefetchCaching.docc/Metrics.md"),
            encoding: .utf8)
        let rows = try await printed().families.map { family in
            "| `\(family.name)` | \(family.type) | \(family.ownLabels.map { "`\($0)`" }.joined()) | \(family.help) |\n"
        }
        let isListed = article.contains("| --- | --- | --- | --- |\n\(rows.joined())\n")
        #expect(isListed, "\(rows.joined())")
    }

    @Test func theDashboardAsksForWhatIsPrinted() async throws {
        let file = try Data(contentsOf: Self.package.appending(path: "Examples/Dashboards/grafana.json"))
        let dashboard = try #require(JSONSerialization.jsonObject(with: file) as? [String: Any])
        let panels = try #require(dashboard["panels"] as? [[String: Any]])
        let queries = panels.flatMap { $0["targets"] as? [[String: Any]] ?? [] }
        let names = Set(try await printed().series.keys.map { String($0.prefix { $0 != "{" }) })
        for query in queries {
            let text = try #require(query["expr"] as? String)
            let used = text.matches(of: /prefetchcache_\w+/).map { String($0.0) }
            #expect(!used.isEmpty, "\(text)")
            #expect(Set(used).subtracting(names).isEmpty, "\(text)")
        }
        #expect(queries.count > 20)
        #expect(Set(panels.compactMap { $0["id"] as? Int }).count == panels.count)
    }
}

/// Metrics as text, read strictly: what is not as it has to be is an issue.
private struct Exposition {
    struct Family {
        let name: String
        var type = "counter"
        let help: String
        var ownLabels: Set<String> = []
    }

    private(set) var families: [Family] = []
    /// By name and labels.
    private(set) var series: [String: Double] = [:]

    init(_ text: String) throws {
        #expect(text.hasSuffix("\n# EOF\n"))
        for line in text.split(separator: "\n").dropLast() {
            if let help = line.wholeMatch(of: /# HELP (\w+) (.+)/) {
                #expect(!families.contains { $0.name == help.1 }, "\(line)")
                families.append(Family(name: String(help.1), help: String(help.2)))
                continue
            }
            let last = families.count - 1
            let family = try #require(families.last, "\(line)")
            if let type = line.wholeMatch(of: /# TYPE (\w+) (gauge|summary)/) {
                #expect(type.1 == family.name, "\(line)")
                families[last].type = String(type.2)
                continue
            }
            let sample = try #require(
                line.wholeMatch(of: /(\w+)(\{(?:\w+="(?:[^"\\]|\\["\\n])*",?)*\}) ([0-9.e+]+)/), "\(line)")
            #expect(
                (family.type == "summary" ? ["_sum", "_count"] : [""]).contains {
                    family.name + $0 == sample.1
                },
                "\(line)")
            #expect((family.type == "counter") == family.name.hasSuffix("_total"), "\(line)")
            let labels = sample.2.matches(of: /(\w+)="/).map { String($0.1) }
            families[last].ownLabels.formUnion(Set(labels).subtracting(["app", "container"]))
            let value = try #require(Double(sample.3))
            #expect(series.updateValue(value, forKey: "\(sample.1)\(sample.2)") == nil, "twice: \(line)")
        }
    }
}
