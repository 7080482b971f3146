import Foundation
import Testing

@testable import StorageInventory

/// The article on inventories, held against the code.
@Suite struct InventoryArticleTests {
    private let text: String

    init() throws {
        let package = URL(filePath: #filePath).resolvingSymlinksInPath()
            .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        text = try String(
            contentsOf: package.appending(path: "Sources/PrefetchCaching/PrefetchCaching.docc/Inventory.md"),
            encoding: .utf8)
    }

    @Test func theTableOfRulesIsThatOfTheCode() {
        let header = ["Rule", "Severity", "What is wrong", "Statements", "Fix"]
        let rows = StorageRules.infos.map {
            [
                "`\($0.name)`", $0.severity.rawValue, $0.explanation,
                $0.statements.isEmpty ? "–" : $0.statements.map(\.id).joined(separator: ", "), $0.fix,
            ]
        }
        let table = ([header, header.map { _ in "---" }] + rows)
            .map { "| \($0.joined(separator: " | ")) |\n" }
            .joined()
        #expect(text.contains("\n\n\(table)\n"))
    }

    @Test func everyKindIsListed() {
        #expect(names(under: "Kind") == FileKind.allCases.map(\.rawValue))
    }

    @Test func everythingThatExcludesIsListed() {
        #expect(names(under: "Name in JSON") == Exclusions(rawValue: .max).names)
    }

    @Test func theNumberOfRulesInTheChangelogIsRight() {
        #expect(StorageRules.infos.count == 34)
    }

    /// The first column of a table, without its backticks.
    private func names(under title: String) -> [String] {
        text.split(separator: "\n", omittingEmptySubsequences: false)
            .drop { !$0.hasPrefix("| \(title) |") }.dropFirst(2).prefix { $0.hasPrefix("|") }
            .compactMap { $0.split(separator: "`").dropFirst().first.map(String.init) }
    }
}
