import Foundation
import Testing

@testable import cachectl

/// A manifest on the command line.
@Suite struct ManifestTests {
    let container: Container

    init() throws {
        container = try Container()
        try container.succeed("put", "film", "-", "--to", "documents", "--name", "Film.txt", input: text)
        try container.succeed("open", "film")
        try container.write("{}", to: "Library/Application Support/state.json")
    }

    private func manifest(_ text: String) throws -> String {
        try container.folder.write(Data(text.utf8), to: "storage.json").path
    }

    @Test func fromTheDraftToACleanCheck() throws {
        let draft = try container.succeed("inventory", "--draft-manifest").text
        let path = try manifest(draft)
        let open = try container.cachectl("inventory", "--check", "--manifest", path)
        #expect(open.status == 1)
        #expect(
            open.text.matches(of: #/\[([a-z-]+)\]/#).map { String($0.1) } == [
                "purpose-to-do", "purpose-to-do",
            ])
        _ = try manifest(draft.replacing("TODO: ", with: ""))
        let clean = try container.succeed("inventory", "--check", "--manifest", path)
        #expect(clean.text.hasPrefix("nothing wrong with "))
        try container.write("x", to: "Library/Application Support/other")
        let found = try container.cachectl("inventory", "--check", "--manifest", path)
        #expect(found.status == 1)
        #expect(found.text.hasPrefix("warning: Library/Application Support/other: "))
        #expect(found.text.contains(" [unexplained]\n"))
    }

    @Test func theDraftSaysWhatACheckReportsAndARuleCanBeIgnored() throws {
        try container.write("x", to: "Documents/session.log")
        let draft = try container.succeed("inventory", "--draft-manifest").text
        #expect(draft.contains("; a check reports log-among-documents\""))
        #expect(try container.cachectl("inventory", "--check").text.contains("[log-among-documents]"))
        try container.succeed("inventory", "--check", "--ignore", "log-among-documents")
        let unknown = try container.cachectl("inventory", "--check", "--ignore", "logs")
        #expect(unknown.status == 64 && unknown.errors.contains("there is no rule 'logs'"))
    }

    @Test func theDraftIsReadByPeopleAndTheSameEachTime() throws {
        let draft = try container.succeed("inventory", "--draft-manifest").text
        #expect(try container.succeed("inventory", "--draft-manifest", "--json").text == draft)
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
        #expect(try JSONSerialization.jsonObject(with: Data(draft.utf8)) is [String: Any])
    }

    @Test func theDraftOfAnAppHasItsIdentifier() throws {
        let home = container.folder.url
        let file = home.appending(path: ".local/share/org.example.app/state.json")
        try FileManager.default.createDirectory(
            at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data("{}".utf8).write(to: file)
        let draft = try Tool.run(
            Tool.path, ["inventory", "--app", "org.example.app", "--draft-manifest"], in: container.folder)
        #expect(draft.text.hasPrefix("{\n  \"version\": 1,\n  \"app\": \"org.example.app\",\n"))
        #expect(draft.text.contains("\"path\": \"Library/Application Support/state.json\""))
        let path = try manifest(draft.text)
        let check = try Tool.run(
            Tool.path, ["inventory", "--app", "org.example.app", "--check", "--manifest", path],
            in: container.folder)
        #expect(!check.text.contains("unexplained") && !check.text.contains("misplaced"))
    }

    @Test func strangeNamesNeitherControlTheTerminalNorBreakTheDraft() throws {
        try container.write("x", to: "Library/Application Support/n\u{1B}[2J\u{202E}\n\"")
        let draft = try container.succeed("inventory", "--draft-manifest")
        #expect(!draft.text.unicodeScalars.contains { $0.isTerminalHazard && $0 != "\n" })
        let check = try container.cachectl("inventory", "--check", "--manifest", manifest(draft.text))
        #expect(check.status == 1 && !check.text.contains("unexplained"))
    }

    @Test func anErrorNamesTheFileAndThePlace() throws {
        let path = try manifest(#"{"version": 1, "entries": [{"path": "a", "wat": "b"}]}"#)
        for arguments in [["inventory", "--check"], ["show", "film"]] {
            let outcome = try Tool.run(
                Tool.path, arguments + ["--manifest", path, "--container", container.root.path],
                in: container.folder)
            #expect(outcome.status == 65)
            #expect(outcome.output.isEmpty)
            #expect(
                outcome.errors
                    == "cachectl: error: \(path), entries[0]: there is no \"wat\", only path, what, why, area, backup, "
                    + "regenerable, owner, limit, unusedFor\n")
        }
        let missing = try container.cachectl("inventory", "--check", "--manifest", "/nowhere/storage.json")
        #expect(missing.status == 66)
        #expect(missing.errors.contains("/nowhere/storage.json cannot be read"))
    }

    @Test(arguments: [
        ["--manifest", "x"], ["--draft-manifest", "--check"], ["--draft-manifest", "--area", "documents"],
        ["--draft-manifest", "--files"], ["--draft-manifest", "--manifest", "x"],
    ])
    func optionsThatDoNotFitAreRefused(_ arguments: [String]) throws {
        let outcome = try Tool.run(
            Tool.path, ["inventory", "--container", container.root.path] + arguments, in: container.folder)
        #expect(outcome.status == 64)
    }
}

extension Container {
    func write(_ content: String, to path: String) throws {
        let file = root.appending(path: path)
        try FileManager.default.createDirectory(
            at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(content.utf8).write(to: file)
    }
}
