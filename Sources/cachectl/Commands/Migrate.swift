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
        abstract: "Takes a folder of files into the cache, or brings the cache's own files up to date.",
        usage: """
            cachectl migrate [--dry-run]
            cachectl migrate --from <dir> --as <role> [--to <area>] [--source <source>] [--key-prefix <text>] \
                [--backup <choice>] [--dry-run]
            """,
        discussion: Examples.migrate.discussion(
            """
            Without --from it brings catalog and ledger of older versions up to date, and tells which. That \
            also happens by itself, when they are first used.

            Each file's key is its path below the folder, behind --key-prefix. As cached, files become items, which \
            are evicted like any other: only what can be downloaded again; none makes another go. As support or \
            documents they become files of the user's, as if they had been opened, under the next free name where \
            theirs is taken. A file goes from the folder when what it became is durable. This can be killed at any \
            moment and run again. Links, pipes and the like, hidden files and names that are not UTF-8 stay, with a \
            line each.
            """))

    @Option(help: ArgumentHelp("The folder.", valueName: "dir"))
    var from: String?

    @Option(name: .customLong("as"), help: ArgumentHelp("What the files become.", valueName: "role"))
    var role: Role?

    @Option(help: ArgumentHelp("With --as cached: where an item goes when it is opened.", valueName: "area"))
    var to: DestinationArea?

    @Option(help: "With --as cached: the feed or server that the items come from.")
    var source: String?

    @Option(help: ArgumentHelp("What stands before the path in every key.", valueName: "text"))
    var keyPrefix = ""

    @Option(help: ArgumentHelp("Whether backups shall contain the files.", valueName: "choice"))
    var backup = BackupChoice.include

    @Flag(help: "Only tell what would be done.")
    var dryRun = false

    @OptionGroup var shared: SharedOptions

    // Settling uses the ledger, and would upgrade it before the command has reported its version.
    var settlesAtOpening: Bool { !dryRun && from != nil }
    var onlyLooks: Bool { dryRun }

    func validate() throws {
        guard (from == nil) == (role == nil) else {
            throw ValidationError(
                "--from <dir> and --as <role> go together; neither is to bring the cache up to date")
        }
        if from == nil, source != nil || to != nil || !keyPrefix.isEmpty || backup != .include {
            throw ValidationError("--to, --source, --key-prefix and --backup are for --from")
        }
        if role != .cached, to != nil || source != nil {
            throw ValidationError("--to and --source are for --as cached")
        }
        if to == .icloud, backup == .exclude {
            throw ValidationError("--backup exclude is not for --to icloud: what is there is uploaded")
        }
    }

    func perform(in session: Session) async throws {
        guard let from, let role else { return try await upgrade(in: session) }
        try requireFolder(from)
        let request = MigrationRequest(
            of: FilePath(from), as: request(role), source: source ?? "", keyPrefix: keyPrefix,
            backup: backup.policy)
        let log = MigrationLog(in: session.place, isJSON: session.output.isJSON, isDryRun: dryRun)
        try await session.cache.migrate(request, dryRun: dryRun) { log.note($0) }
        try log.finish(to: session.output)
    }

    private func upgrade(in session: Session) async throws {
        let report = try await session.cache.upgrade(dryRun: dryRun)
        guard !session.output.isJSON else {
            return try session.output.print(json: UpgradeRecord(report, isDryRun: dryRun))
        }
        let files = [
            ("catalog", "made anew", report.catalog), ("ledger", "brought up to date", report.ledger),
        ]
        for (name, deed, versions) in files {
            guard let versions, versions.isChange else { continue }
            try session.output.print(
                "\(dryRun ? "would be " : "")\(deed): \(name), version \(versions.before) → \(versions.after)"
            )
        }
        if !report.isChange { try session.output.confirm("nothing to bring up to date") }
    }

    private func request(_ role: Role) -> MigrationRequest.Role {
        switch role {
        case .documents: .promoted(to: .documents)
        case .support: .promoted(to: .applicationSupport)
        case .cached: .cached(to: (to ?? .support).destination("file", in: nil, backup: .include).area)
        }
    }

    private func requireFolder(_ from: String) throws(CommandFailure) {
        do {
            try LiveFileSystem().withFile(FilePath(from), in: .workingDirectory, .directoryFollowingLinks) {
                _ in
            }
        } catch {
            if error.isNotFound { throw CommandFailure(.notFound, "there is no folder \(from)") }
            if error.errno == .notDirectory {
                throw CommandFailure(.notFound, "\(from) is not a folder; name the one it is in")
            }
            throw CommandFailure(ExitCode(error), "cannot read \(from): \(error.errno)")
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
