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

    /// Something wrong with a manifest, and where a person is told to look.
    struct Fault: Sendable, CustomTestStringConvertible {
        let text: String
        let line: Int
        let column: Int
        let reason: String
        /// Whether the schema sees it, too.
        var isSeenBySchema = true

        var testDescription: String { reason }

        init(_ text: String, _ line: Int, _ column: Int, _ reason: String, isSeenBySchema: Bool = true) {
            self.text = text
            self.line = line
            self.column = column
            self.reason = reason
            self.isSeenBySchema = isSeenBySchema
        }

        /// A fault in the only entry, whose wrong member is the last one.
        init(_ name: String, _ value: String?, _ reason: String, column: Int = 7, isSeenBySchema: Bool = true)
        {
            let text = ManifestReadingTests.manifest([name: value])
            // The last line but three; without the member, the line where the entry begins.
            let line = value == nil ? 4 : text.split(separator: "\n").count - 3
            self.init(
                text, line, value == nil ? 5 : column, reason, isSeenBySchema: isSeenBySchema)
        }
    }

    static let syntaxFaults = [
        Fault("", 1, 1, "the text ends where a value is expected"),
        Fault("{\n  \"version\": 1,\n", 3, 1, "the text ends where a name in double quotes is expected"),
        Fault("{\n  \"version\": 1,\n}", 3, 1, "the comma before this '}' is one too many"),
        Fault("{\"entries\": [1, 2,]}", 1, 19, "the comma before this ']' is one too many"),
        Fault("{\"version\" 1}", 1, 12, "expected a colon, found '1'"),
        Fault("{\"version\": 1 \"entries\": []}", 1, 15, "expected a comma or '}', found '\"'"),
        Fault("{\n  // files\n}", 2, 3, "JSON has no comments"),
        Fault("{version: 1}", 1, 2, "expected a name in double quotes, found 'v'"),
        Fault("{\"version\": 'é'}", 1, 13, "expected a value, found ''"),
        Fault("{\"é\": é}", 1, 7, "expected a value, found 'é'"),
        Fault("{\"app\": \"a\nb\"}", 1, 11, "a line break or control character in a text"),
        Fault("{\r\n\"app\": \"abc}", 2, 8, "this text has no closing quote"),
        Fault("{\"app\": \"a\\x\"}", 1, 9, "an escape in this text is not one of JSON"),
        Fault("{\"app\": \"\\ud800\"}", 1, 9, "an escape in this text is not one of JSON"),
        Fault("{\"version\": 01}", 1, 13, "this is not a number of JSON"),
        Fault("{\"version\": 1e}", 1, 13, "this is not a number of JSON"),
        Fault("{} {}", 1, 4, "there is more after the end"),
        Fault(String(repeating: "[", count: 1000), 1, 33, "the values are nested too deeply"),
    ]

    static let faults = [
        Fault("[]", 1, 1, "a manifest is an object in braces, and not a list"),
        Fault("{\"entries\": []}", 1, 1, "a manifest needs \"version\": the version of the format, 1"),
        Fault("{\"version\": 1}", 1, 1, "a manifest needs \"entries\": a list of what the app stores"),
        Fault("{\"version\": \"1\", \"entries\": []}", 1, 13, "\"version\" is the number 1, and not \"1\""),
        Fault(
            "{\"version\": 2, \"entries\": []}", 1, 13,
            "this is a newer version, and this tool knows version 1"),
        Fault("{\"version\": 0.5, \"entries\": []}", 1, 13, "there is no such version: write 1"),
        Fault(
            "{\"version\": 1, \"entries\": {}}", 1, 27, "\"entries\" is a list in brackets, and not an object"
        ),
        Fault("{\"version\": 1, \"app\": 7, \"entries\": []}", 1, 23, "\"app\" is a text in double quotes"),
        Fault(
            "{\"version\": 1, \"files\": [], \"entries\": []}", 1, 16,
            "a manifest has no \"files\", only $schema, version, app, entries"),
        Fault(
            "{\"version\": 1, \"entries\": [\n null]}", 2, 2, "an entry is an object in braces, and not null"),
        Fault(
            "{\"version\": 1,\n \"version\": 1, \"entries\": []}", 2, 2, "\"version\" is given twice",
            isSeenBySchema: false),
        Fault("note", "\"x\"", "an entry has no \"note\", only path, what, why"),
        Fault("why", nil, "an entry needs \"why\": why they are stored"),
        Fault("area", nil, "an entry needs \"area\": where they belong: documents, support"),
        Fault("regenerable", nil, "an entry needs \"regenerable\""),
        Fault("path", "7", "\"path\" is a text in double quotes, and not a number", column: 15),
        Fault("path", "\"/a\"", "\"/a\" cannot be the \"path\": it begins with a slash", column: 15),
        Fault("path", "\"a**\"", "\"a**\" cannot be the \"path\": '**' stands for folders", column: 15),
        Fault("what", "\"  \"", "\"what\" says nothing: write what the files are", column: 15),
        Fault(
            "area", "\"docs\"",
            "there is no area \"docs\": write documents, support, caches, tmp, icloud or other", column: 15),
        Fault("backup", "\"yes\"", "\"backup\" is not \"yes\": write include, exclude or system", column: 17),
        Fault(
            "regenerable", "\"false\"",
            "\"regenerable\" is \"download\", \"derive\" or false, and not \"false\"", column: 22),
        Fault(
            "regenerable", "true", "\"regenerable\" is \"download\", \"derive\" or false, and not true",
            column: 22),
        Fault("owner", "\"\"", "\"owner\" says nothing", column: 16),
        Fault("limit", "200", "\"limit\" is a text in double quotes, and not a number", column: 16),
        Fault("limit", "\"200M\"", "\"200M\" cannot be the \"limit\": its unit is ambiguous", column: 16),
        Fault(
            "limit", "\"9999999TB\"", "cannot be the \"limit\": it is too large", column: 16,
            isSeenBySchema: false),
        Fault("unusedFor", "\"30\"", "\"30\" cannot be the \"unusedFor\": it has no unit", column: 20),
    ]

    /// Faults that take two members to see.
    static let contradictions = [
        Fault(
            manifest(["area": "\"caches\"", "backup": "\"system\""]), 8, 22,
            "the system may delete what is in the area caches, so it cannot be false here: write \"download\" or "
        ),
        Fault(
            manifest(["backup": "\"exclude\""]), 9, 22,
            "no backup has what is excluded, so it cannot be false here: write \"download\" or \"derive\", or change "
                + "the backup"),
        Fault(
            manifest(["area": "\"caches\"", "backup": "\"include\""]), 10, 17,
            "no backup has what is in the area caches: write system"),
        Fault(
            manifest(["area": "\"icloud\"", "backup": "\"exclude\""]), 10, 17,
            "what is in the area icloud is uploaded, and no mark matters: write system"),
        Fault(
            full.replacing(
                "    }\n  ]",
                with: "    },\n"
                    + full.split(separator: "\n")[5...15].joined(separator: "\n")
                    .replacing("Artwork/**", with: "Artwork/**/*") + "\n  ]"), 18, 15,
            "the entry in line 7 has the same pattern: keep one of the two", isSeenBySchema: false),
    ]

    @Test(arguments: syntaxFaults + faults + contradictions)
    func anErrorNamesLineAndColumnAndSaysWhatToDo(_ fault: Fault) {
        let error = #expect(throws: ManifestError.self) { try Self.read(fault.text) }
        guard case .invalid(let name, let line, let column, let reason) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(name == "storage.json")
        #expect(reason.contains(fault.reason), "\(reason)")
        #expect(line == fault.line && column == fault.column, "line \(line), column \(column): \(reason)")
        #expect(reason.contains(":") || reason.contains(", "), "\(reason) says what to do")
    }

    @Test func whatIsNoUTF8IsShownWhereItBegins() throws {
        let text = Array("{\n \"app\": \"é".utf8) + [0xFF] + Array("\"}".utf8)
        let error = #expect(throws: ManifestError.self) {
            try StorageManifest(parsing: text, named: "storage.json")
        }
        #expect(
            error?.description
                == "storage.json, line 2, column 11: this is not UTF-8: save the file with that encoding")
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

    /// Whatever is changed or cut off, the answer is a manifest or a place within the text.
    @Test func noTextIsTooStrange() throws {
        var generator = SeededGenerator(seed: 20)
        let bytes = Array(Self.full.utf8)
        for count in 0..<bytes.count { try check(Array(bytes[..<count])) }
        for _ in 0..<2000 {
            var text = bytes
            for _ in 0..<Int.random(in: 1...4, using: &generator) {
                text[Int.random(in: 0..<text.count, using: &generator)] =
                    [
                        UInt8.random(in: 0...255, using: &generator), UInt8(ascii: "\""), UInt8(ascii: "\\"),
                        UInt8(ascii: "{"), UInt8(ascii: "]"), UInt8(ascii: ","),
                    ].randomElement(using: &generator) ?? 0
            }
            try check(text)
        }
    }

    private func check(_ text: [UInt8]) throws {
        do throws(ManifestError) {
            _ = try StorageManifest(parsing: text, named: "x")
        } catch {
            guard case .invalid(_, let line, let column, _) = error else { throw error }
            let lines = text.count { $0 == 0x0A } + 1
            #expect((1...lines).contains(line) && (1...text.count + 1).contains(column))
        }
    }
}
