import FileSystemTestSupport
import Foundation
import Testing

@testable import PrefetchCaching

/// The articles of the documentation, held against the code.
@Suite struct DocumentationTests {
    @Test func everyArticleIsLinkedFromTheLandingPage() throws {
        let landing = try Article("PrefetchCaching")
        let names = try Article.names()
        #expect(names.count > 1)
        for name in names where name != "PrefetchCaching" {
            #expect(landing.text.contains("- <doc:\(name)>"), "\(name)")
        }
    }

    @Test func everyLinkedArticleExists() throws {
        let names = Set(try Article.names())
        for name in names {
            for match in try Article(name).text.matches(of: /doc:(\w+)/) {
                #expect(names.contains(String(match.1)), "\(match.0) in \(name)")
            }
        }
    }

    @Test func everyFolderHasItsLineInTheArchitecture() throws {
        let rows = try Article("Architecture").rows(under: "Folder").map { $0[0] }
        let folders = try FileManager.default.contentsOfDirectory(
            at: Self.sources, includingPropertiesForKeys: [.isDirectoryKey]
        ).filter { try $0.resourceValues(forKeys: [.isDirectoryKey]).isDirectory == true }
        let names = folders.map(\.lastPathComponent).filter { !$0.hasSuffix(".docc") }
        #expect(Set(rows) == Set(names.map { "`\($0)/`" }))
    }

    @Test func everyCallHasItsLine() throws {
        let rows = try Article("PrefetchCaching").rows(under: "Call").flatMap { row in
            row[0].replacing("`", with: "").split(separator: ", ").map { String($0) }
        }
        let files = try FileManager.default.contentsOfDirectory(
            at: Self.sources.appending(path: "API"), includingPropertiesForKeys: nil
        ).filter { $0.lastPathComponent.hasPrefix("PrefetchCache") || $0.lastPathComponent == "Pin.swift" }
        let calls = try files.flatMap { file in
            try String(contentsOf: file, encoding: .utf8)
                .matches(of: /(?m)^    public (?:func|var) (\w+)/).map { String($0.1) }
        }
        #expect(Set(rows) == Set(calls).subtracting(["release"]))
    }

    @Test func onlyTheIndexAndTheLedgerSpeakSQL() throws {
        let files = try #require(
            FileManager.default.enumerator(at: Self.sources, includingPropertiesForKeys: nil)
        )
        .compactMap { $0 as? URL }.filter { $0.pathExtension == "swift" }
        let speakers = try files.filter {
            try String(contentsOf: $0, encoding: .utf8).contains("import GRDB")
        }
        #expect(!speakers.isEmpty)
        let folders = speakers.map { $0.deletingLastPathComponent().lastPathComponent }
        #expect(Set(folders) == ["Index", "Promotion"])
    }

    private static let sources = Article.package.appending(path: "Sources/PrefetchCaching")

    @Test func theTableOfAreasIsThatOfTheirPromises() throws {
        #expect(try Article("Areas").text.contains("\n\n\(AreaPromise.markdownTable())\n"))
    }

    @Test(arguments: [("Contracts", 40), ("HostileWorld", 7), ("Guidelines", 66)])
    func everyTestThatIsNamedExists(article: String, least: Int) throws {
        let sources = try testSources()
        let named = try Article(article).text.matches(of: /`(\w+Tests)\.(\w+)`/)
        #expect(named.count > least)
        for test in named {
            let isThere = sources.contains { source in
                source.contains("struct \(test.1) ") && source.contains("func \(test.2)(")
            }
            #expect(isThere, "\(test.0)")
        }
    }

    @Test func theExamplesOfChargedLengthsAreRight() throws {
        let rows = try Article("Budget").rows(under: "Stored length")
        #expect(rows.count > 5)
        for row in rows {
            let charge = ChargedLength(blockSize: try #require(Int64(row[1])))
            #expect(charge(storedBytes: try #require(Int64(row[0]))) == Int64(row[2]), "\(row)")
        }
    }

    @Test func theExamplesOfTheCapacityModelAreRight() throws {
        let rows = try Article("Budget").rows(under: "Total")
        #expect(rows.count > 5)
        let model = CapacityModel()
        for row in rows {
            let state = VolumeState(total: try gigabytes(row[0]), available: try gigabytes(row[1]))
            let capacity = model.capacity(of: state)
            let amounts = [capacity.low, capacity.reserve, capacity.share, capacity.budget]
            #expect(
                try amounts.map(roundedGigabytes) == row[2...5].map { $0.replacing(" GB", with: "") },
                "\(row)")
            #expect(model.pressure(of: state, after: .normal).rawValue == row[6], "\(row)")
        }
    }

    @Test func everyReasonOfARefusalIsListed() throws {
        let reasons = try Article("Budget").rows(under: "Reason").map { $0[0] }
        let refusals: [Refusal] = [
            .disabled, .pressure(.low), .largerThanLargestItem(needed: 1, largest: 0),
            .overBudget(needed: 1, budget: 0), .lowPriority(0), .lowValue, .paused(source: ""),
            .alreadyPromoted, .expired,
        ]
        #expect(reasons == refusals.map { "`\($0.reason)`" })
    }

    private func gigabytes(_ text: String) throws -> Int64 {
        let number = try #require(Double(text.replacing(" GB", with: "")))
        return Int64((number * 1e9).rounded())
    }

    private func roundedGigabytes(_ bytes: Int64) throws -> String {
        (Double(bytes) / 1e9).formatted(
            .number.precision(.fractionLength(2)).grouping(.never).locale(Locale(identifier: "en_US_POSIX")))
    }

    /// All suites of the package, a file each.
    private func testSources() throws -> [String] {
        let folder = Article.package.appending(path: "Tests").path
        return try FileManager.default.subpathsOfDirectory(atPath: folder)
            .filter { $0.hasSuffix("Tests.swift") }
            .map { try String(contentsOfFile: "\(folder)/\($0)", encoding: .utf8) }
    }
}
