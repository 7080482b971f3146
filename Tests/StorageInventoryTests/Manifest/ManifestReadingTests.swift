import FileSystemTestSupport
import Foundation
import PrefetchCaching
import PrefetchFileSystem
import SystemPackage
import Testing

@testable import StorageInventory

@Suite struct ManifestReadingTests {
    static let full = """
        {
          "$schema": "storage.schema.json",
          "version": 1,
          "app": "org.example.podcasts",
          "entries": [
            {
              "path": "Library/Application Support/Artwork/**",
              "what": "Covers \\u2013 of podcasts",
              "why": "They are shown offline, too",
              "area": "support",
              "backup": "exclude",
              "regenerable": "derive",
              "owner": "com.example.sdk",
              "limit": "1.5 MB",
              "unusedFor": "2w"
            }
          ]
        }

        """

    /// A manifest whose only entry has the given members in place of its own.
    static func manifest(_ changes: KeyValuePairs<String, String?>) -> String {
        var members: [(String, String)] = [
            ("path", "\"Documents/**\""), ("what", "\"texts\""), ("why", "\"the user wrote them\""),
            ("area", "\"documents\""), ("backup", "\"include\""), ("regenerable", "false"),
        ]
        for (name, value) in changes {
            members.removeAll { $0.0 == name }
            if let value { members.append((name, value)) }
        }
        let lines = members.map { "      \"\($0)\": \($1)" }.joined(separator: ",\n")
        return "{\n  \"version\": 1,\n  \"entries\": [\n    {\n\(lines)\n    }\n  ]\n}\n"
    }

    private static func read(_ text: String) throws(ManifestError) -> StorageManifest {
        try StorageManifest(parsing: Array(text.utf8), named: "storage.json")
    }

    @Test(arguments: ["", "\u{FEFF}"]) func everyMemberIsRead(_ mark: String) throws {
        let manifest = try Self.read(mark + Self.full)
        #expect(manifest.app == "org.example.podcasts")
        let entry = try #require(manifest.entries.first)
        #expect(manifest.entries.count == 1)
        #expect(entry.pattern.text == "Library/Application Support/Artwork/**")
        #expect(entry.what == "Covers \u{2013} of podcasts")
        #expect(entry.why == "They are shown offline, too")
        #expect(entry.area == .applicationSupport)
        #expect(entry.backup == .exclude)
        #expect(entry.regenerable == .derive)
        #expect(entry.owner == "com.example.sdk")
        #expect(entry.limit?.value == .bytes(1_500_000) && entry.limit?.text == "1.5 MB")
        #expect(entry.unusedFor?.value.milliseconds == 1_209_600_000 && entry.unusedFor?.text == "2w")
    }

    @Test func whatMayBeLeftOutHasItsDefault() throws {
        let entry = try #require(try Self.read(Self.manifest(["area": "\"other\""])).entries.first)
        #expect(entry.owner == "us" && entry.limit == nil && entry.unusedFor == nil && entry.area == nil)
        #expect(try Self.read(#"{"version":1.0,"entries":[]}"#).entries.isEmpty)
    }

    private static let syntaxFaults = [
        "", "{\n  \"version\": 1,\n", "{\"version\" 1}", "{\"version\": 1 \"entries\": []}",
        "{\n  // files\n}", "{version: 1}", "{\"version\": 'é'}", "{\"app\": \"a\nb\"}",
        "{\r\n\"app\": \"abc}", "{} {}", String(repeating: "[", count: 1000),
        #"{"version": 01, "entries": []}"#, #"{"version": 1e, "entries": []}"#,
        #"{"version": 1, "entries": [], "app": "\ud800"}"#,
        #"{"version": 1, "entries": [], "app": "a\x"}"#,
    ]

    /// What else can be wrong is in the histories of `cachectl`.
    @Test(arguments: syntaxFaults) func whatIsNoJSONIsSaidToBeNone(_ text: String) {
        let error = #expect(throws: ManifestError.self) { try Self.read(text) }
        guard case .invalid("storage.json", "", let reason) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(reason.hasPrefix("this is not JSON: "))
    }

    /// By a line or by a character, as Foundation counts.
    @Test func anErrorOfSyntaxIsShownWhereItIs() {
        let error = #expect(throws: ManifestError.self) {
            try Self.read("{\n  \"version\": 1,\n  // files\n}")
        }
        #expect(
            error?.description.contains(/around (line 3|character 20)/) == true,
            "\(String(describing: error))")
    }

    @Test func whatIsNoUTF8IsRefused() throws {
        let text = Array(#"{"version": 1, "entries": [], "app": ""#.utf8) + [0xFF] + Array("\"}".utf8)
        #expect(throws: ManifestError.self) { try StorageManifest(parsing: text, named: "storage.json") }
    }

    @Test func aFileThatCannotBeReadIsNamed() throws {
        for (path, errno) in [("/nowhere/storage.json", Errno.noSuchFileOrDirectory), ("/tmp", .isDirectory)]
        {
            let error = #expect(throws: ManifestError.self) {
                try StorageManifest(at: FilePath(path), in: LiveFileSystem())
            }
            #expect(error == .unreadable(FilePath(path), errno))
        }
    }

    /// Whatever is changed or cut off, the answer is a manifest or a place in it.
    @Test func noTextIsTooStrange() throws {
        var generator = SeededGenerator(seed: 20)
        let bytes = Array(Self.full.utf8)
        for count in 0..<bytes.count { try check(Array(bytes[..<count])) }
        let likely = Array("\"\\{],".utf8)
        for _ in 0..<2000 {
            var text = bytes
            for _ in 0..<Int.random(in: 1...4, using: &generator) {
                let others = likely + [UInt8.random(in: 0...255, using: &generator)]
                text[Int.random(in: 0..<text.count, using: &generator)] =
                    others.randomElement(using: &generator) ?? 0
            }
            try check(text)
        }
    }

    private func check(_ text: [UInt8]) throws {
        do throws(ManifestError) {
            _ = try StorageManifest(parsing: text, named: "x")
        } catch {
            guard case .invalid(_, let place, let reason) = error else { throw error }
            #expect(place.wholeMatch(of: #/[$a-z]*|entries\[0\](\.[a-zA-Z]+)?/#) != nil, "\(place)")
            #expect(!reason.isEmpty)
        }
    }
}
