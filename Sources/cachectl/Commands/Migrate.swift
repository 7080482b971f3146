internal import ArgumentParser
internal import PrefetchCaching
internal import PrefetchFileSystem
internal import Synchronization
internal import SystemPackage

struct Migrate: CacheCommand {
    enum Role: String, CaseIterable, ExpressibleByArgument { case cached, support, documents }

    /// The names are those of `Area`.
    enum DestinationArea: String, CaseIterable, ExpressibleByArgument { case documents, support, icloud }

    static let configuration = CommandConfiguration(
        commandName: "migrate",
        abstract: "Imports a folder of files.",
        discussion: """
            The key of each file is --key-prefix followed by its path below the folder. With --as cached, files \
            become items, which are evicted like any other: use it only for files that can be downloaded again. An \
            imported item never displaces another. With --as support or documents, files become the user's, as if \
            they had been opened; if a name is taken, the next free number is added to it. A file is removed from \
            the folder once its new copy is durable. The command can be killed at any moment and run again. Links, \
            pipes and the like, hidden files and names that are not UTF-8 are left alone, each with a line that says \
            so. A dry run checks each file on its own, against the room there is now, and does not number names \
            that are taken.

            EXAMPLES:
              # Show what would happen to downloads among the documents
              cachectl migrate --from Documents/Old --as support --dry-run --container .
              # Take over another library's cache
              cachectl migrate --from ./old --as cached --source feed-7 --container .
            """)

    @Option(
        help: ArgumentHelp("The folder to import.", valueName: "dir"), completion: .directory,
        transform: FilePath.parse)
    var from: FilePath

    @Option(name: .customLong("as"), help: ArgumentHelp("What the files become.", valueName: "role"))
    var role: Role

    @Option(help: ArgumentHelp("With --as cached: the area that an opened item moves to.", valueName: "area"))
    var to: DestinationArea?

    @Option(help: "With --as cached: the feed or server that the items come from.", transform: String.parse)
    var source: String?

    @Option(
        help: ArgumentHelp("The text before the path in every key.", valueName: "text"),
        transform: String.parse)
    var keyPrefix = ""

    @Option(
        help: ArgumentHelp(
            "Whether backups should contain the files (default: exclude with --as cached, else include).",
            valueName: "choice"))
    var backup: BackupChoice?

    @Flag(help: "Only show what would be done.")
    var dryRun = false

    @OptionGroup var shared: SharedOptions

    var needsCache: Bool { false }
    var isLooking: Bool { dryRun }

    func validate() throws {
        if role != .cached, to != nil || source != nil {
            throw ValidationError("--to and --source are for --as cached")
        }
        if to == .icloud, backup == .exclude {
            throw ValidationError("--backup exclude cannot be used with --to icloud: its files are uploaded")
        }
    }

    func checkInput() throws(CommandFailure) {
        do throws(FileSystemError) {
            try LiveFileSystem().withFile(from, in: .workingDirectory, .directoryFollowingLinks) { _ in }
        } catch {
            throw InputFile.failure(from.displayText, error)
        }
    }

    func perform(on cache: PrefetchCache, at place: Place, to output: Output) async throws {
        let migratedRole: MigrationRequest.Role =
            role == .cached
            ? .cached(to: to.flatMap { Area(name: $0.rawValue) } ?? .applicationSupport)
            : .promoted(to: role == .documents ? .documents : .applicationSupport)
        let request = MigrationRequest(
            of: from, as: migratedRole, source: source ?? "", keyPrefix: keyPrefix, backup: backup?.policy)
        let log = Mutex<[MigratedFile]>([])
        let progress = output.isQuiet ? nil : WorkProgress.onTerminal()
        let migrated = await result {
            try await cache.migrate(request, dryRun: dryRun) { file in
                progress?.show(file)
                log.withLock { $0.append(file) }
            }
        }
        progress?.clear()
        let files = log.withLock(\.self)
        if !output.isJSON { try output.print(files.compactMap { line(of: $0, in: place) }) }
        // Even if the migration failed: some files were migrated before.
        let left = files.count { if case .left = $0.outcome { true } else { false } }
        let records: [JSONObject] = files.map { file in
            let (outcome, location, reason) = file.outcome.parts
            return [
                "path": file.path, "key": file.key?.string, "outcome": outcome,
                "to": location.map(place.relativePath), "reason": reason,
            ]
        }
        try output.report(
            ["dryRun": dryRun, "files": records],
            ["\(Count.text(files.count - left, "file"))\(dryRun ? " would be" : "") imported, \(left) left"],
            isConfirmation: !dryRun)
        try migrated.get()
        if let failure = self.failure(files) { throw failure }
    }

    /// `nil` unless a file failed, or was left for a reason that may not recur.
    private func failure(_ files: [MigratedFile]) -> CommandFailure? {
        var first: CommandFailure?
        for file in files {
            guard case .left(let obstacle) = file.outcome else { continue }
            switch obstacle {
            case .failed(let error):
                return CommandFailure(ExitCode(error), "'\(file.path)' and perhaps others: \(error)")
            case .refused(let refusal):
                let message = "'\(file.path)' and perhaps others were refused: \(refusal)"
                first = first ?? CommandFailure(.refused, "\(message); 'cachectl capacity' shows why")
            case .changed:
                let message = "'\(file.path)' changed during the import, or is being migrated"
                first = first ?? CommandFailure(.refused, "\(message); run the command again")
            case .notARegularFile, .name, .keyIsTaken, .ours: break
            }
        }
        return first
    }

    /// `--quiet` hides imported files, but not files that were left: the user expected them to be imported.
    private func line(of file: MigratedFile, in place: Place) -> String? {
        let (outcome, location, reason) = file.outcome.parts
        if let reason { return "\(outcome) \(file.path): \(reason)" }
        if shared.quiet, !dryRun { return nil }
        let target = location.map(place.relativePath) ?? ""
        return "\(dryRun ? "would be " : "")\(outcome) \(file.path) → \(target)"
    }
}

extension MigratedFile.Outcome {
    /// The outcome's JSON name, the file's new location, and why it was left.
    fileprivate var parts: (name: String, location: AreaPath?, reason: String?) {
        switch self {
        case .stored(let location): ("stored", location, nil)
        case .moved(let location): ("moved", location, nil)
        case .merged(let location): ("merged", location, nil)
        case .adopted(let location): ("adopted", location, nil)
        case .left(let obstacle): ("left", nil, obstacle.description)
        }
    }
}
