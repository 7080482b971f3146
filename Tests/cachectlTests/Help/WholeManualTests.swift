import FileSystemTestSupport
import Foundation
import HTTPTestServer
import Testing

@testable import cachectl

/// Runs every command with every option, and compares what was run with what `--help` lists.
@Suite struct WholeManualTests {
    /// What is not run here, and why.
    private static let exceptions: [String: String] = [
        "70": "a defect of the program itself"
    ]

    /// The commands that were run, with their options and operands, and the exit codes that were seen.
    private final class Coverage {
        private let tree: [CommandTree]
        private(set) var seen: Set<String> = []

        init() throws {
            tree = try CommandTree.commands()
        }

        var all: Set<String> {
            var all = Set(ExitCode.allCases.map { "\($0.rawValue)" })
            for command in tree {
                all.insert(command.commandName)
                for argument in arguments(of: command) {
                    all.insert("\(command.commandName) \(name(argument))")
                }
            }
            return all
        }

        func note(_ arguments: [String], _ status: Int32) throws {
            seen.insert("\(status)")
            let command = try #require(tree.first { $0.commandName == arguments[0] }, "\(arguments)")
            seen.insert(command.commandName)
            let known = self.arguments(of: command)
            var operands = known.filter { $0.kind == .positional }
            var rest = arguments.dropFirst()
            while let word = rest.popFirst() {
                if let option = known.first(where: { $0.kind != .positional && name($0) == word }) {
                    seen.insert("\(command.commandName) \(word)")
                    if option.kind == .option { _ = rest.popFirst() }
                } else if let operand = operands.first {
                    seen.insert("\(command.commandName) \(name(operand))")
                    if !operand.isRepeating { operands.removeFirst() }
                }
            }
        }

        private func arguments(of command: CommandTree) -> [CommandTree.Argument] {
            let shared = ["--container", "--app", "--json", "--quiet", "--verbose", "--version", "--help"]
            return (command.arguments ?? []).filter { $0.shouldDisplay && !shared.contains(name($0)) }
        }

        private func name(_ argument: CommandTree.Argument) -> String {
            argument.kind == .positional
                ? "<\(argument.valueName ?? "")>" : argument.names?.last?.text ?? ""
        }
    }

    private let container: Container
    private let coverage: Coverage
    private let server: HTTPTestServer

    init() throws {
        container = try Container()
        coverage = try Coverage()
        server = try HTTPTestServer { TestResource(text).answer(to: $0) }
    }

    /// Runs a command on the container.
    private func run(
        _ words: String, exits status: ExitCode = .success, input: Data = text,
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let words = words.replacing("URL", with: server.url("/a").absoluteString)
            .split(separator: " ").map(String.init)
        let outcome = try Tool.run(
            Tool.path, words + place, input: input, in: container.folder)
        #expect(
            outcome.status == status.rawValue, "\(words): \(outcome.errors)", sourceLocation: sourceLocation)
        try coverage.note(words, outcome.status)
    }

    private var place: [String] { ["--container", container.root.path] }

    @Test func everythingIsRun() throws {
        try storeAndRead()
        try download()
        try lookAfterTheCache()
        try lookAtAllFiles()
        try fail()
        try interrupt()
        let unseen = coverage.all.subtracting(coverage.seen)
        #expect(unseen == Set(Self.exceptions.keys), "these are not run, or no longer exceptions")
    }

    private func storeAndRead() throws {
        try run(
            "put a - --source feed --to documents --name a.txt --folder Texts --backup exclude --expires 7d --priority 0.5"
        )
        try run("put b - --encoding identity")
        try run("put c - --to documents --requested")
        try run("list --partials --sort size --source feed --older-than 0s --larger-than 1kB")
        try run("list --opened")
        try run("show a")
        try run("cat a --range 0-9")
        try run("cat b --follow --timeout 1s")
        try run("show b")
        try run("open a")
        try run("show a")
        try run("forget a --delete-file")
    }

    private func download() throws {
        try run(
            "fetch URL --key d --source feed --to documents --name d --folder F --backup exclude --expires 7d "
                + "--priority 0.1")
        try run(
            "fetch URL --key e --parallel 1 --per-host 1 --tries 1 --allow-host 127.0.0.1 --allow-insecure "
                + "--only-free-space")
        try run("fetch URL --key e --gate --uncompressed --revalidate --redirects 3")
        try run("fetch URL --key e --keep --record-url --any-type")
        try run("fetch URL --key e --replace --anew")
        try run("fetch URL --key f --to documents --name f --requested --record-url")
        try run("fetch URL --key f --to documents --name f --replace-opened")
        try run("fetch URL --key g --sha256 \(String(repeating: "0", count: 64))", exits: .damaged)
        try run("fetch URL --key h --powered")
        try container.folder.write(Data(server.url("/list").absoluteString.utf8), to: "list")
        try run("fetch --from-file list")
        try run("fetch --bundle i --from-file list --to documents")
        try run("cat i --file list")
        try FileManager.default.removeItem(at: container.root.appending(path: "Documents/f"))
        try run("fetch --missing --dry-run --allow-host 127.0.0.1 --allow-insecure")
        try run("fetch --missing --key f")
    }

    private func lookAfterTheCache() throws {
        try run("configure --cap 1GiB --largest 1MiB --keep-free 1MiB --storing on --policy value")
        try run("configure --budget 64MiB --policy lru")
        try run("capacity --free 1MB")
        try run("trim")
        try run("stats --since 30d --by source --csv")
        try run("stats --openmetrics")
        try run("stats --reset --yes")
        try run("events --since 1h --key a --source feed --kind stored")
        try run("verify --sample 2 --seed 1 --repair")
        try run("repair --dry-run --keep-quarantined")
        try run("purge --excluded --older-than 30d --dry-run")
        try run("evict b --dry-run")
        try run("evict --bytes 1")
        try run("evict --to-bytes 1MiB --source feed --older-than 30d")
        try run("evict --all")
        try run("migrate")
        try FileManager.default.createDirectory(
            at: container.folder.file("old"), withIntermediateDirectories: false)
        try container.folder.write(text, to: "old/file.txt")
        try run("migrate --from old --as cached --to documents --source old --key-prefix old/ --dry-run")
        try run("migrate --from old --as documents --backup include --dry-run")
        try run("report --html report.html")
        try run("report --html report.html --force")
        try run("watch --interval 100ms --count 1")
    }

    private func lookAtAllFiles() throws {
        try run(
            "inventory --files --area documents --kind promoted --source feed --larger-than 1 --older-than 0s"
        )
        try run("inventory --csv --backup-tool restic")
        try run("inventory --rules")
        try run("inventory --exclude-list")
        try run("inventory --draft-manifest")
        let manifest = try Tool.run(
            Tool.path, ["inventory", "--draft-manifest"] + place, in: container.folder)
        try container.folder.write(manifest.output, to: "storage.json")
        try run("show Documents --manifest storage.json", exits: .notFound)
        try run("report --html - --manifest storage.json")
        try container.folder.write(text, to: "Info.plist")
        let stray = container.root.appending(path: "Library/Caches/Stray.sqlite")
        try Data("SQLite format 3\0".utf8).write(to: stray)
        try container.folder.write(Data("<plist><dict/></plist>".utf8), to: "Info.plist")
        try run(
            "inventory --check --sarif --manifest storage.json --unused-for 1d --plist Info.plist",
            exits: .found)
        try run("inventory --check --ignore nothing-like-this", exits: .usage)
        try FileManager.default.createDirectory(
            at: container.root.appending(path: "Documents/Empty"), withIntermediateDirectories: false)
        try run("inventory --check --fix-script", exits: .found)
    }

    private func fail() throws {
        try run("show nothing", exits: .notFound)
        try run("list --nothing", exits: .usage)
        try run("fetch http://127.0.0.1:1/ --key j --tries 1", exits: .unavailable)
        try run("put k - --to documents")
        try FileManager.default.removeItem(at: container.root.appending(path: "Documents"))
        try Data().write(to: container.root.appending(path: "Documents"))
        try run("open k", exits: .cannotCreate)
        try run("configure --storing off")
        try run("put l -", exits: .refused)

        let roots = ["Caches", "Application Support"].map {
            container.root.appending(path: "Library/\($0)/PrefetchCache")
        }
        let ledger = roots[1].appending(path: "ledger.sqlite")
        try text.write(to: ledger)
        try run("open k", exits: .inputOutput)
        try Data("{".utf8).write(to: container.configurationFile)
        try run("capacity", exits: .configuration)
        try FileManager.default.removeItem(at: container.configurationFile)
        // Anybody may write there.
        try FileManager.default.setAttributes([.posixPermissions: 0o777], ofItemAtPath: roots[0].path)
        try run("list", exits: .notPermitted)
    }

    private func interrupt() throws {
        for (signal, code) in [(SIGHUP, ExitCode.hungUp), (SIGINT, .interrupted), (SIGTERM, .terminated)] {
            // More than a pipe holds: once that is written, the program reads.
            let put = ["put", "k", "-"]
            let outcome = try interrupt(put, by: signal) { input, _ in
                try input.write(contentsOf: Data(repeating: 0, count: 1 << 20))
            }
            try coverage.note(put, outcome.status)
            #expect(outcome.status == code.rawValue)
            #expect(outcome.output.isEmpty)
            let failure = try outcome.failure
            #expect((failure.error, failure.exitCode) == (code.name, code.rawValue))
        }
        let events = ["events", "--follow"]
        let outcome = try interrupt(events, by: SIGTERM) { _, output in
            #expect(!output.availableData.isEmpty)
        }
        try coverage.note(events, outcome.status)
        #expect(try outcome.failure.exitCode == ExitCode.terminated.rawValue)
    }

    /// Runs a command with `--json` on a container of its own, in which something has happened, and sends it a signal when it
    /// is known to be at work.
    ///
    /// - Parameter isAtWork: Returns once the program has read its input, or printed something.
    private func interrupt(
        _ arguments: [String], by signal: Int32, once isAtWork: (FileHandle, FileHandle) throws -> Void
    ) throws -> Tool.Outcome {
        let container = try Container()
        try container.succeed("put", "before", "-", input: text)
        let (process, input, output, errors) = (ChildProcess(), Pipe(), Pipe(), Pipe())
        process.executableURL = URL(filePath: try Tool.path)
        process.arguments = arguments + ["--json", "--container", container.root.path]
        process.standardInput = input
        process.standardOutput = output
        process.standardError = errors
        try process.run()
        try isAtWork(input.fileHandleForWriting, output.fileHandleForReading)
        kill(process.processIdentifier, signal)
        process.waitUntilExit()
        return Tool.Outcome(
            status: process.terminationStatus, output: output.fileHandleForReading.availableData,
            errors: String(decoding: errors.fileHandleForReading.availableData, as: UTF8.self))
    }
}
