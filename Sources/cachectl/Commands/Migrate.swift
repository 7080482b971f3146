internal import ArgumentParser
internal import FileSystem
internal import PrefetchCache
internal import SystemPackage

/// `cachectl migrate`
struct Migrate: CacheCommand {
    enum Role: String, CaseIterable, ExpressibleByArgument {
        case cached, support, documents
    }

    static let configuration = CommandConfiguration(
        commandName: "migrate",
        abstract: "Imports a folder of files, or upgrades the cache's own files.",
        usage: """
            cachectl migrate [--dry-run]
            cachectl migrate --from <dir> --as <role> [--to <area>] [--source <source>] [--key-prefix <text>] \
                [--backup <choice>] [--dry-run]
            """,
        discussion: Examples.migrate.discussion(
            """
            Without --from it upgrades a catalog and a ledger of older versions, and reports the versions. This \
            also happens automatically when they are first used.

            The key of each file is its path below the folder, after --key-prefix. As cached, files become items, \
            which are evicted like any other: use it only for files that can be downloaded again. An imported item \
            never displaces another. As support or documents, files become the user's, as if they had been opened, \
            under the next free name if theirs is taken. A file is removed from the folder once its new copy is \
            durable. The command can be killed at any moment and run again. Links, pipes and the like, hidden files \
            and names that are not UTF-8 stay; each is reported on a line. A dry run checks each file by itself: against \
            the room that there is now, and without numbering a name that is taken.
            """))

    @Option(
        help: ArgumentHelp("The folder to import.", valueName: "dir"), completion: .directory,
        transform: FilePath.parse)
    var from: FilePath?

    @Option(name: .customLong("as"), help: ArgumentHelp("What the files become.", valueName: "role"))
    var role: Role?

    @Option(help: ArgumentHelp("With --as cached: the area that an opened item moves to.", valueName: "area"))
    var to: DestinationArea?

    @Option(
        help: "With --as cached: the feed or server that the items come from.", transform: String.parse)
    var source: String?

    @Option(
        help: ArgumentHelp("The text before the path in every key.", valueName: "text"),
        transform: String.parse)
    var keyPrefix = ""

    @Option(help: ArgumentHelp("Whether backups should contain the files.", valueName: "choice"))
    var backup = BackupChoice.include

    @Flag(help: "Only show what would be done.")
    var dryRun = false

    @OptionGroup var shared: SharedOptions

    // Settling uses the ledger, and would upgrade it before the command has reported its version.
    var settlesAtOpening: Bool { !dryRun && from != nil }
    var needsCache: Bool { from == nil }
    var onlyLooks: Bool { dryRun }

    func validate() throws {
        guard (from == nil) == (role == nil) else {
            throw ValidationError(
                "give --from <dir> and --as <role> together, or neither to upgrade the cache")
        }
        if from == nil, source != nil || to != nil || !keyPrefix.isEmpty || backup != .include {
            throw ValidationError("--to, --source, --key-prefix and --backup are for --from")
        }
        if role != .cached, to != nil || source != nil {
            throw ValidationError("--to and --source are for --as cached")
        }
        if to == .icloud, backup == .exclude {
            throw ValidationError("--backup exclude cannot be used with --to icloud: its files are uploaded")
        }
    }

    func checkInput() throws(CommandFailure) {
        if let from { try requireFolder(from) }
    }

    func perform(in session: Session) async throws {
        guard let from, let role else { return try await upgrade(in: session) }
        let request = MigrationRequest(
            of: from, as: request(role), source: source ?? "", keyPrefix: keyPrefix,
            backup: backup.policy)
        let log = MigrationLog(
            in: session.place, isJSON: session.output.isJSON, isQuiet: session.output.isQuiet,
            isDryRun: dryRun)
        do {
            try await session.cache.migrate(request, dryRun: dryRun) { log.note($0) }
        } catch {
            // What was migrated before is reported all the same, and this is the failure.
            try log.printSummary(to: session.output)
            throw error
        }
        try log.finish(to: session.output)
    }

    private func upgrade(in session: Session) async throws {
        let report = try await session.cache.upgrade(dryRun: dryRun)
        guard !session.output.isJSON else {
            return try session.output.print(json: UpgradeRecord(report, isDryRun: dryRun))
        }
        let files = [
            ("catalog", "rebuilt", report.catalog), ("ledger", "upgraded", report.ledger),
        ]
        for (name, deed, versions) in files {
            guard let versions, versions.isChange else { continue }
            try session.output.report(
                "\(dryRun ? "would be " : "")\(deed): \(name), version \(versions.before) → \(versions.after)",
                isDryRun: dryRun)
        }
        if !report.isChange { try session.output.confirm("nothing to upgrade") }
    }

    private func request(_ role: Role) -> MigrationRequest.Role {
        switch role {
        case .documents: .promoted(to: .documents)
        case .support: .promoted(to: .applicationSupport)
        case .cached: .cached(to: (to ?? .support).destination("file", in: nil, backup: .include).area)
        }
    }

    private func requireFolder(_ from: FilePath) throws(CommandFailure) {
        do {
            try LiveFileSystem().withFile(from, in: .workingDirectory, .directoryFollowingLinks) {
                _ in
            }
        } catch {
            if error.isNotFound { throw CommandFailure(.notFound, "there is no folder \(from.displayText)") }
            if error.errno == .notDirectory {
                throw CommandFailure(.notFound, "\(from.displayText) is not a folder; name the one it is in")
            }
            throw CommandFailure(ExitCode(error), "cannot read \(from.displayText): \(error.errno)")
        }
    }
}

private struct UpgradeRecord: Encodable {
    struct Versions: Encodable {
        let before: Int
        let after: Int

        init(_ versions: UpgradeReport.Versions) {
            before = versions.before
            after = versions.after
        }
    }

    let dryRun: Bool
    let catalog: Nullable<Versions>
    let ledger: Nullable<Versions>

    init(_ report: UpgradeReport, isDryRun: Bool) {
        dryRun = isDryRun
        catalog = Nullable(report.catalog.map(Versions.init))
        ledger = Nullable(report.ledger.map(Versions.init))
    }
}
