import Foundation
import Testing

@testable import cachectl

/// A manifest on the command line.
@Suite struct ManifestTests {
    let container: Container

    init() async throws {
        container = try Container()
        try await container.succeed(
            "put", "film", "-", "--to", "documents", "--name", "Film.txt", input: text)
        try await container.succeed("open", "film")
        try container.write("{}", to: "Library/Application Support/state.json")
    }

    private func check(_ manifest: String) async throws -> Tool.Outcome {
        let file = try container.folder.write(Data(manifest.utf8), to: "storage.json")
        return try await container.cachectl("inventory", "--check", "--manifest", file.path)
    }

    @Test func fromTheDraftToACleanCheck() async throws {
        let draft = try await container.succeed("inventory", "--draft-manifest").text
        let open = try await check(draft)
        #expect(open.status == 1)
        let rules = open.text.matches(of: #/\[([a-z-]+)\]/#).map { String($0.1) }
        #expect(rules == ["purpose-to-do", "purpose-to-do"])
        let done = draft.replacing("TODO: ", with: "")
        let clean = try await check(done)
        #expect(clean.status == 0 && clean.text.hasPrefix("nothing wrong with "))
        try container.write("x", to: "Library/Application Support/other")
        let found = try await check(done)
        #expect(found.status == 1)
        #expect(found.text.hasPrefix("warning: Library/Application Support/other: "))
        #expect(found.text.contains(" [unexplained]\n"))
    }

    @Test func theDraftSaysWhatACheckReportsAndARuleCanBeIgnored() async throws {
        try container.write("x", to: "Documents/session.log")
        let draft = try await container.succeed("inventory", "--draft-manifest").text
        #expect(draft.contains("; a check reports log-among-documents\""))
        let check = try await container.cachectl("inventory", "--check")
        #expect(check.text.contains("[log-among-documents]"))
        try await container.succeed("inventory", "--check", "--ignore", "log-among-documents")
        let unknown = try await container.cachectl("inventory", "--check", "--ignore", "logs")
        #expect(unknown.status == 64 && unknown.errors.contains("there is no rule 'logs'"))
    }

    @Test func theDraftIsReadByPeopleAndTheSameEachTime() async throws {
        let draft = try await container.succeed("inventory", "--draft-manifest").text
        #expect(try await container.succeed("inventory", "--draft-manifest", "--json").text == draft)
        #expect(
            draft == """
                {
                  "version": 1,
                  "entries": [
                    {
                      "path": "Documents/*.txt",
                      "what": "TODO: 1 opened item of type txt",
                      "why": "TODO: who needs it, and what is lost without it?",
                      "area": "documents",
                      "backup": "exclude",
                      "regenerable": "download"
                    },
                    {
                      "path": "Library/Application Support/state.json",
                      "what": "TODO: 1 file of type json",
                      "why": "TODO: who needs it, and what is lost without it?",
                      "area": "support",
                      "backup": "include",
                      "regenerable": false
                    }
                  ]
                }

                """)
    }

    @Test func theDraftOfAnAppHasItsIdentifier() throws {
        let outcome = try container.shell(
            #"""
            cd; mkdir -p .local/share/org.example.app; echo '{}' >.local/share/org.example.app/state.json
            "$CACHECTL" inventory --app org.example.app --draft-manifest | tee storage.json
            "$CACHECTL" inventory --app org.example.app --check --manifest storage.json
            """#)
        #expect(outcome.text.hasPrefix("{\n  \"version\": 1,\n  \"app\": \"org.example.app\",\n"))
        #expect(outcome.text.contains("\"path\": \"Library/Application Support/state.json\""))
        #expect(!outcome.text.contains("unexplained") && !outcome.text.contains("misplaced"))
    }

    @Test func strangeNamesNeitherControlTheTerminalNorBreakTheDraft() async throws {
        try container.write("x", to: "Library/Application Support/n\u{1B}[2J\u{202E}\n\"")
        let draft = try await container.succeed("inventory", "--draft-manifest").text
        #expect(!draft.unicodeScalars.contains { $0.isTerminalHazard && $0 != "\n" })
        let outcome = try await check(draft)
        #expect(outcome.status == 1 && !outcome.text.contains("unexplained"))
    }

    @Test func anErrorNamesTheFileAndThePlace() async throws {
        let content = Data(#"{"version": 1, "entries": [{"path": "a", "wat": "b"}]}"#.utf8)
        let path = try container.folder.write(content, to: "storage.json").path
        for arguments in [["inventory", "--check"], ["show", "film"]] {
            let outcome = try await container.cachectl(arguments + ["--manifest", path])
            #expect(outcome.status == 65 && outcome.output.isEmpty)
            #expect(
                outcome.errors
                    == "cachectl: error: \(path), entries[0]: there is no \"wat\", only path, what, why, area, backup, "
                    + "regenerable, owner, limit, unusedFor\n")
        }
        let missing = try await container.cachectl("show", "film", "--manifest", "/nowhere/storage.json")
        #expect(missing.status == 66)
        #expect(missing.errors.contains("/nowhere/storage.json cannot be read"))
    }
}
