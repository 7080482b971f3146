import Foundation
import PrefetchCaching
import PrefetchFileSystem
import SystemPackage
import Testing

@testable import StorageInventory

/// The article on manifests and the JSON schema, held against the code.
@Suite struct ManifestDocumentationTests {
    private let article: String
    private let schema: [String: Any]
    private let entry: [String: Any]
    private let properties: [String: [String: Any]]

    init() throws {
        let folder = URL(filePath: #filePath).resolvingSymlinksInPath()
            .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
            .appending(path: "Sources/PrefetchCaching/PrefetchCaching.docc")
        article = try String(contentsOf: folder.appending(path: "Manifest.md"), encoding: .utf8)
        let data = try Data(contentsOf: folder.appending(path: "Resources/storage.schema.json"))
        schema = try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
        let definitions = try #require(schema["$defs"] as? [String: Any])
        entry = try #require(definitions["entry"] as? [String: Any])
        properties = try #require(entry["properties"] as? [String: [String: Any]])
    }

    // MARK: The schema

    @Test func theSchemaHasTheNamesOfTheCode() throws {
        let keys = StorageManifest.Key.allCases
        #expect(Set(properties.keys) == Set(keys.map(\.rawValue)))
        #expect(entry["required"] as? [String] == keys.filter(\.isRequired).map(\.rawValue))
        #expect(entry["additionalProperties"] as? Bool == false)
        for key in keys { #expect(properties[key.rawValue]?["description"] as? String == key.meaning) }
        let outer = try #require(schema["properties"] as? [String: [String: Any]])
        #expect(Set(outer.keys) == ["$schema", "version", "app", "entries"])
        #expect(outer["version"]?["const"] as? Int == StorageManifest.version)
        #expect(schema["required"] as? [String] == ["version", "entries"])
        #expect(schema["additionalProperties"] as? Bool == false)
        #expect(schema["$schema"] as? String == "https://json-schema.org/draft/2020-12/schema")
    }

    @Test func theSchemaHasTheValuesOfTheCode() {
        #expect(properties["area"]?["enum"] as? [String] == StorageManifest.areaNames)
        #expect(properties["backup"]?["enum"] as? [String] == StorageManifest.Backup.allCases.map(\.rawValue))
        let regenerable = properties["regenerable"]?["enum"] as? [Any]
        #expect(regenerable?.prefix(2).compactMap { $0 as? String } == ["download", "derive"])
        #expect(regenerable?.count == 3 && regenerable?.last as? Bool == false)
    }

    /// Whether a text matches the pattern of a member.
    private func matches(_ key: StorageManifest.Key, _ text: String) throws -> Bool {
        let pattern = try #require(properties[key.rawValue]?["pattern"] as? String)
        let expression = try NSRegularExpression(pattern: pattern)
        return expression.firstMatch(in: text, range: NSRange(text.startIndex..., in: text)) != nil
    }

    @Test func theSchemaTakesThePatternsThatTheCodeTakes() throws {
        for pattern in PathPatternTests.ranks + ["a", "Documents/.a", "a..b", "...", "a*b?c", "*/**/*"] {
            _ = try PathPattern(pattern)
            #expect(try matches(.path, pattern), "\(pattern)")
        }
        for (pattern, _) in PathPatternTests.faults { #expect(try !matches(.path, pattern), "\(pattern)") }
    }

    @Test(arguments: [
        "0", "4096", "4096B", "4096 B", "2kB", "2KB", "2kiB", "8 MiB", "1.5GB", "1.5 tiB", "0.5KiB", "", "-1",
        "MiB", ".5GB", "5.GB", "1.2.3", "1,5GB", "1e9", "8Mb", "8MIB", "8b", "1PB", "2k", "2M", "1.5", "0.5B",
        " 1", "1 000", "45s", "7d", "7 d", "2w", "30", "1.5h", "1y", "1D", "٣d",
    ])
    func theSchemaTakesTheQuantitiesThatTheCodeTakes(_ text: String) throws {
        #expect(try matches(.limit, text) == ((try? ByteSize.parse(text)) != nil))
        #expect(try matches(.unusedFor, text) == ((try? Lifetime(text)) != nil))
    }

    // MARK: The article

    @Test func everyExampleIsAManifest() throws {
        let examples = article.components(separatedBy: "```json\n").dropFirst()
            .compactMap { $0.components(separatedBy: "\n```").first }
        #expect(!examples.isEmpty)
        for example in examples {
            let manifest = try StorageManifest(parsing: Array(example.utf8), named: "Manifest.md")
            #expect(manifest.entries.count > 1)
        }
    }

    @Test func theTableOfNamesIsThatOfTheCode() {
        let rows = StorageManifest.Key.allCases.map {
            "| `\($0.rawValue)` | \($0.meaning) |\($0.isRequired ? " required" : "") |\n"
        }
        #expect(article.contains("| Name | Meaning | |\n| --- | --- | --- |\n\(rows.joined())\n"))
    }

    @Test func theOrderOfPatternsIsThatOfTheCode() throws {
        let patterns = try article.matches(of: #/(?m)^\d\. `(.+)`$/#).map { try PathPattern(String($0.1)) }
        #expect(patterns.count == 7)
        for (one, next) in zip(patterns, patterns.dropFirst()) {
            #expect(one.isMoreSpecific(than: next) && !next.isMoreSpecific(than: one), "\(one.text)")
        }
        for pattern in patterns { #expect(pattern.matches("Documents/Films/a.pdf")) }
    }

    @Test func everyRuleOfAManifestIsListed() throws {
        let listed = article.matches(of: #/(?m)^\| `([a-z-]+)` \| an? /#).map { String($0.1) }
        #expect(Set(listed) == Set(ManifestRuleTests.rules))
        #expect(listed.count == 6)
        for rule in listed { #expect(StorageRules.infos.contains { $0.name == rule }) }
    }
}
