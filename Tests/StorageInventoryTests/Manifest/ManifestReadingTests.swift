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

    /// Something wrong with a manifest, where a person is told to look, and what for.
    struct Fault: Sendable, CustomTestStringConvertible {
        let text: String
        let place: String
        let reason: String

        var testDescription: String { "\(place): \(reason)" }

        init(_ text: String, at place: String = "", _ reason: String) {
            (self.text, self.place, self.reason) = (text, place, reason)
        }

        /// A fault in the only entry.
        init(_ name: String, _ value: String?, _ reason: String) {
            self.init(
                ManifestReadingTests.manifest([name: value]), at: "entries[0].\(name)", reason)
        }
    }

    private static let syntaxFaults = [
        "", "{\n  \"version\": 1,\n", "{\"version\" 1}", "{\"version\": 1 \"entries\": []}",
        "{\n  // files\n}", "{version: 1}", "{\"version\": 'é'}", "{\"app\": \"a\nb\"}",
        "{\r\n\"app\": \"abc}", "{} {}", String(repeating: "[", count: 1000),
        #"{"version": 01, "entries": []}"#, #"{"version": 1e, "entries": []}"#,
        #"{"version": 1, "entries": [], "app": "\ud800"}"#,
        #"{"version": 1, "entries": [], "app": "a\x"}"#,
    ].map { Fault($0, "this is not JSON: ") }

    private static let somethingElse = "this is something else: write "
    private static let kinds = "how they can be had again: \"download\", \"derive\" or"

    private static let faults = [
        Fault("[]", somethingElse + "an object in braces"),
        Fault(#"{"entries": []}"#, at: "version", "it is missing: write the version of the format, 1"),
        Fault(#"{"version": 1}"#, at: "entries", "it is missing: write a list of what the app stores"),
        Fault(#"{"version": "1", "entries": []}"#, at: "version", "write the version of the format, 1"),
        Fault(
            #"{"version": 2, "entries": []}"#, at: "version", "newer version, and this tool knows version 1"),
        Fault(#"{"version": 0.5, "entries": []}"#, at: "version", "there is no such version: write 1"),
        Fault(#"{"version": true, "entries": []}"#, at: "version", "there is no such version: write 1"),
        Fault(#"{"version": 1, "entries": {}}"#, at: "entries", "write a list of what the app stores"),
        Fault(#"{"version": 1, "app": 7, "entries": []}"#, at: "app", somethingElse + "the identifier"),
        Fault(#"{"version": 1, "app": null, "entries": []}"#, at: "app", somethingElse + "the identifier"),
        Fault(#"{"version": 1, "$schema": 7, "entries": []}"#, at: "$schema", somethingElse + "the address"),
        Fault(
            #"{"version": 1, "files": [], "entries": []}"#,
            "there is no \"files\", only $schema, version, app, entries"),
        Fault(
            "{\"version\": 1, \"entries\": [\n null]}", at: "entries[0]",
            somethingElse + "an object in braces"),
        Fault(
            manifest(["note": "\"x\""]), at: "entries[0]", "there is no \"note\", only path, what, why, area"),
        Fault("path", nil, "it is missing: write the pattern of the files' paths"),
        Fault("what", nil, "it is missing: write what the files are"),
        Fault("why", nil, "it is missing: write why they are stored"),
        Fault("area", nil, "it is missing: write where they belong: documents, support"),
        Fault("backup", nil, "it is missing: write whether backups contain them"),
        Fault("regenerable", nil, "it is missing: write \(kinds)"),
        Fault("path", "7", somethingElse + "the pattern of the files' paths"),
        Fault("path", "\"/a\"", "it cannot be \"/a\": it begins with a slash"),
        Fault("path", "\"a**\"", "it cannot be \"a**\": '**' stands for folders"),
        Fault("what", "\"  \"", "it cannot be \"  \": write what the files are"),
        Fault("area", "\"docs\"", "it cannot be \"docs\": write where they belong: documents, support"),
        Fault("backup", "\"yes\"", "it cannot be \"yes\": write whether backups contain them: include"),
        Fault("regenerable", "\"false\"", "it cannot be \"false\": write \(kinds)"),
        Fault("regenerable", "true", somethingElse + kinds),
        Fault("regenerable", "0", somethingElse + kinds),
        Fault("regenerable", "null", somethingElse + kinds),
        Fault("owner", "\"\"", "it cannot be \"\": write who writes them"),
        Fault("limit", "200", somethingElse + "how much they may take together"),
        Fault("limit", "\"200M\"", "it cannot be \"200M\": its unit is ambiguous"),
        Fault("limit", "\"9999999TB\"", "it is too large"),
        Fault("unusedFor", "\"30\"", "it cannot be \"30\": it has no unit"),
    ]

    /// Faults that take two members to see.
    private static let contradictions = [
        Fault(
            manifest(["area": "\"caches\"", "backup": "\"system\""]), at: "entries[0].regenerable",
            "the system may delete what is in the area caches, so it cannot be false here: write \"download\" or "
        ),
        Fault(
            manifest(["backup": "\"exclude\""]), at: "entries[0].regenerable",
            "no backup has what is excluded, so it cannot be false here: write \"download\" or \"derive\", or"
        ),
        Fault(
            manifest(["area": "\"caches\"", "backup": "\"include\""]), at: "entries[0].backup",
            "no backup has what is in the area caches: write system"),
        Fault(
            manifest(["area": "\"icloud\"", "backup": "\"exclude\""]), at: "entries[0].backup",
            "what is in the area icloud is uploaded, and no mark matters: write system"),
        Fault(
            full.replacing(
                "    }\n  ]",
                with: "    },\n"
                    + full.split(separator: "\n")[5...15].joined(separator: "\n")
                    .replacing("Artwork/**", with: "Artwork/**/*") + "\n  ]"), at: "entries[1].path",
            "entries[0] has the same pattern: keep one of the two"),
    ]

    @Test(arguments: syntaxFaults + faults + contradictions)
    func anErrorNamesThePlaceAndSaysWhatToDo(_ fault: Fault) {
        let error = #expect(throws: ManifestError.self) { try Self.read(fault.text) }
        guard case .invalid(let name, let place, let reason) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(name == "storage.json")
        #expect(reason.contains(fault.reason), "\(reason)")
        #expect(place == fault.place, "\(place): \(reason)")
        #expect(reason.contains(":") || reason.contains(", "), "\(reason) says what to do")
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
