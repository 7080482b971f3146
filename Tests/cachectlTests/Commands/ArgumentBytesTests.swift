import Foundation
import SystemPackage
import Testing

@testable import cachectl

/// Arguments and names that are not UTF-8.
@Suite struct ArgumentBytesTests {
    let container: Container

    init() throws {
        container = try Container()
    }

    /// Runs a command with `A` and `B` in its words, which stand for names that differ only in a byte that is not UTF-8;
    /// a word that begins with `@` is the path of something beside the container.
    private func cachectl(_ words: String, _ place: String? = nil, input: String = "") async throws
        -> Tool.Outcome
    {
        func argument(_ word: Substring) -> String {
            if word.hasPrefix("@") { return container.folder.url.path + "/" + argument(word.dropFirst()) }
            return word.map { $0 == "A" ? "a\u{0}xFF" : $0 == "B" ? "a\u{0}xFE" : String($0) }.joined()
        }
        let arguments = (words.split(separator: " ") + ["--container"]).map(argument)
        return try await Tool.run(
            arguments + [place.map { argument($0[...]) } ?? container.root.path], input: Data(input.utf8),
            in: container.folder)
    }

    @Test func containersAndFilesThatDifferInAByteAreTwo() async throws {
        _ = try container.shell(#"cd; echo file >"$(printf 'a\377')"; mkdir x"#)
        for (place, content) in [("@x/A", "first"), ("@x/B", "second")] {
            let put = try await cachectl("put k - --to documents --name F.txt", place, input: content)
            #expect(put.status == 0, "\(put.errors)")
        }
        for (place, content) in [("@x/A", "first"), ("@x/B", "second")] {
            #expect(try await cachectl("cat k", place).text == content)
            let paths = try [await cachectl("open k", place), await cachectl("open k", place)].map(\.output)
            let name: [UInt8] = place == "@x/A" ? [0x61, 0xFF] : [0x61, 0xFE]
            let end = Data("/x/".utf8) + name + Data("/Documents/F.txt\n".utf8)
            #expect(paths[0] == paths[1] && paths[0].suffix(end.count) == end)
            let json = try await cachectl("open k --json", place).object["path"] as? [String: String]
            #expect(
                json?["text"]?.hasSuffix(#"/Documents/F.txt"#) == true
                    && json?["text"]?.contains(#"/a\xF"#) == true)
            #expect(json?["base64"].flatMap { Data(base64Encoded: $0) } == paths[0].dropLast())
            for words in [
                "stats", "capacity", "verify", "repair", "list --opened", "inventory", "show k",
            ] {
                #expect(try await cachectl(words, place).errors == "", "\(words)")
            }
        }
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: container.folder.file("x").path).count == 2)
        #expect(try await cachectl("put file @A").status == 0)
        #expect(try await cachectl("cat file").text == "file\n")
        #expect(try await cachectl("put file @B").status == 66)
    }

    @Test func aMissingPathIsNamedByItsBytes() async throws {
        for (words, place) in [
            ("put k @A", nil), ("list", "@A"), ("migrate --from @A --as cached", nil),
            ("inventory --check --plist @A", nil),
        ] {
            let outcome = try await cachectl(words, place)
            #expect([66, 73].contains(outcome.status), "\(words)")
            #expect(outcome.errors.contains(#"a\xFF"#), "\(words)")
        }
    }

    /// A shell gives them to the process.
    @Test func theProcessHasTheBytesOfItsArguments() throws {
        let outcome = try container.shell(
            #"""
            A="$(printf 'a\377')"; echo first >"$A"
            "$CACHECTL" put k "$A" --quiet --container "$A.d"; "$CACHECTL" cat k --container "$A.d"; "$CACHECTL" cat "$A"
            """#)
        #expect(outcome.text == "first\n" && outcome.status == 64)
        #expect(outcome.errors.contains(#"a\xFF"#))
    }

    // MARK: Names met on the way

    @Test func filesThatAreLeftAreNamedByTheirBytes() async throws {
        _ = try container.shell(#"cd; mkdir old; for b in 377 376; do echo >"old/$(printf "a\\$b")"; done"#)
        let lines = try await cachectl("migrate --from @old --as cached").text.split(separator: "\n")
        #expect(lines.contains { $0.hasPrefix(#"left a\xFF: "#) })
        #expect(lines.contains { $0.hasPrefix(#"left a\xFE: "#) })
        #expect(lines.last == "0 files imported, 2 left")
    }

    /// Side files belong to the database of the same bytes.
    @Test func databasesThatDifferInAByteAreTwo() async throws {
        _ = try container.shell(
            #"""
            cd "$CONTAINER/Library/Caches"; A="$(printf 'a\377')" B="$(printf 'a\376')"
            printf 'SQLite format 3\000' >"$A"; echo x >"$A-wal"; echo x >"$B-wal"
            """#)
        let outcome = try await cachectl("inventory --check")
        #expect(outcome.status == 1)
        let lines = outcome.text.split(separator: "\n").filter { $0.contains("[database-in-caches]") }
        #expect(lines.count == 1)
        #expect(lines.first?.contains(#"a\xFF: it is a database (2 files, "#) == true)
    }
}
