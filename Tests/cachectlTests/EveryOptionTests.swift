import FileSystemTestSupport
import Foundation
import HTTPTestServer
import Testing

@testable import cachectl

/// Every command is run with every option, and ends with every exit code.
@Suite struct EveryOptionTests {
    private let container: Container
    private let server: HTTPTestServer

    init() throws {
        container = try Container()
        server = try HTTPTestServer { TestResource(text).answer(to: $0) }
        for name in ["list", "Info.plist", "old/file.txt"] {
            let content = [
                "list": server.url("/list").absoluteString, "Info.plist": "<plist><dict/></plist>",
            ]
            try container.write(content[name] ?? "file", to: "../\(name)")
        }
    }

    /// A command with the exit code that it ends with, where that is not 0. `URL` is one of the server, and `@name` a file
    /// beside the container.
    private typealias Line = (words: String, code: ExitCode)

    private static func lines(_ text: String) -> [Line] {
        text.split(separator: "\n").map { line in
            let parts = line.split(separator: "→").map { $0.trimmingCharacters(in: .whitespaces) }
            let code = ExitCode.allCases.first { $0.name == parts.dropFirst().first }
            return (parts[0], code ?? .success)
        }
    }

    private static let cache = lines(
        """
        put a - --source feed --to documents --name a.txt --folder Texts --backup exclude --expires 7d --priority 0.5
        put b - --encoding identity
        put c - --to documents --requested
        list --partials --sort size --source feed --older-than 0s --larger-than 1kB
        list --opened
        cat a --range 0-9
        cat b --follow --timeout 1s
        show b
        open a
        show a
        forget a --delete-file
        fetch URL --key d --source feed --to documents --name d --folder F --backup exclude --expires 7d --priority 0.1
        fetch URL --key e --parallel 1 --per-host 1 --tries 1 --allow-host 127.0.0.1 --allow-insecure --only-free-space
        fetch URL --key e --gate --uncompressed --revalidate
        fetch URL --key e --keep --record-url --any-type
        fetch URL --key e --replace
        fetch URL --key f --to documents --name f --requested --record-url
        fetch URL --key f --to documents --name f --replace-opened
        fetch URL --key g --sha256 0000000000000000000000000000000000000000000000000000000000000000 → damaged
        fetch --from-file @list
        fetch --bundle i --from-file @list --to documents
        cat i --file list
        forget f --delete-file
        fetch --missing --dry-run
        configure --cap 1GiB --largest 1MiB --keep-free 1MiB --storing on --policy value
        configure --budget 64MiB --policy lru
        capacity --free 1MB
        trim
        stats --since 30d --by source
        stats --reset --yes
        events --since 1h --key a --source feed --kind stored
        verify --sample 2 --seed 1 --repair
        repair --dry-run --keep-quarantined
        purge --excluded --older-than 30d --dry-run
        evict b --dry-run
        evict --bytes 1
        evict --to-bytes 1MiB --source feed --older-than 30d
        evict --all
        migrate --from @old --as cached --to documents --source old --key-prefix old/ --dry-run
        migrate --from @old --as documents --backup include --dry-run
        inventory --files
        report
        watch --interval 100ms --count 1
        inventory --rules
        inventory --draft-manifest
        """)

    private static let checks = lines(
        """
        show Documents --manifest @storage.json → notFound
        inventory --check --manifest @storage.json --unused-for 1d --plist @Info.plist → found
        inventory --fix-script
        inventory --check --ignore nothing-like-this → usage
        list --nothing → usage
        fetch http://127.0.0.1:1/ --key j --tries 1 → unavailable
        put k - --to documents
        """)

    private func run(_ lines: [Line]) async throws {
        for line in lines {
            let words = line.words.replacing("URL", with: server.url("/a").absoluteString)
                .replacing("@", with: container.folder.url.path + "/").split(separator: " ").map(String.init)
            let outcome = try await container.cachectl(words, input: text)
            #expect(outcome.status == line.code.rawValue, "\(words): \(outcome.errors)")
        }
    }

    @Test func everythingIsRun() async throws {
        try await run(Self.cache)
        let draft = try await container.succeed("inventory", "--draft-manifest").output
        try container.folder.write(draft, to: "storage.json")
        try container.write("SQLite format 3\0", to: "Library/Caches/Stray.sqlite")
        try FileManager.default.createDirectory(
            at: container.root.appending(path: "Documents/Empty"), withIntermediateDirectories: false)
        try await run(Self.checks)
        // Nothing can be opened into what is no folder.
        try FileManager.default.removeItem(at: container.root.appending(path: "Documents"))
        try container.write("", to: "Documents")
        try await run(Self.lines("open k → cannotCreate\nconfigure --storing off\nput l - → refused"))
        let roots = ["Caches", "Application Support"].map { "Library/\($0)/PrefetchCache" }
        try container.write("no ledger", to: roots[1] + "/record.sqlite")
        try await run(Self.lines("open k → inputOutput"))
        try Data("{".utf8).write(to: container.configurationFile)
        try await run(Self.lines("capacity → configuration"))
        try FileManager.default.removeItem(at: container.configurationFile)
        // Anybody may write there.
        try FileManager.default.setAttributes(
            [.posixPermissions: 0o777], ofItemAtPath: container.root.appending(path: roots[0]).path)
        try await run(Self.lines("list → notPermitted"))
    }

    @Test func noOptionIsLeftOut() throws {
        let words = (Self.cache + Self.checks).map { $0.words.split(separator: " ").map(String.init) }
        let seen = Set(words.flatMap { words in words.map { "\(words[0]) \($0)" } })
        let shared = ["container", "app", "json", "quiet", "verbose", "version", "help"]
        for command in try CommandTree.commands() {
            for name in (command.arguments ?? []).compactMap(\.names?.last?.name) where !shared.contains(name)
            {
                let isSignalled = (command.commandName, name) == ("events", "follow")
                #expect(seen.contains("\(command.commandName) --\(name)") != isSignalled, "\(name)")
            }
        }
    }

    @Test(arguments: [(SIGHUP, ExitCode.hungUp), (SIGINT, .interrupted), (SIGTERM, .terminated)])
    func aSignalEndsACommandAndIsTold(_ signal: Int32, _ code: ExitCode) throws {
        let (process, input, output, errors) = (ChildProcess(), Pipe(), Pipe(), Pipe())
        process.executableURL = URL(filePath: try Tool.path)
        process.arguments = ["put", "k", "-", "--json", "--container", container.root.path]
        (process.standardInput, process.standardOutput, process.standardError) = (input, output, errors)
        try process.run()
        // More than a pipe holds: once that is written, the program reads.
        try input.fileHandleForWriting.write(contentsOf: Data(repeating: 0, count: 1 << 20))
        kill(process.processIdentifier, signal)
        process.waitUntilExit()
        #expect(process.terminationStatus == code.rawValue)
        let failure = try JSONDecoder().decode(
            Tool.Outcome.Failure.self, from: errors.fileHandleForReading.availableData)
        #expect((failure.error, failure.exitCode) == (code.name, code.rawValue))
    }
}
