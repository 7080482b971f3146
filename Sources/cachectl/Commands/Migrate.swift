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
        abstract: "Takes a folder of files into the cache, or into the user's files.",
        discussion: Examples.migrate.discussion(
            """
            Each file's key is its path below the folder, behind --key-prefix. As cached, files become items, which \
            are evicted like any other: only what can be downloaded again; none makes another go. As support or \
            documents they become files of the user's, as if they had been opened, under the next free name where \
            theirs is taken. A file goes from the folder when what it became is durable. This can be killed at any \
            moment and run again. Links, pipes and the like, hidden files and names that are not UTF-8 stay, with a \
            line each.
            """))

    @Option(help: ArgumentHelp("The folder.", valueName: "dir"))
    var from: String

    @Option(name: .customLong("as"), help: ArgumentHelp("What the files become.", valueName: "role"))
    var role: Role

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

    var settlesAtOpening: Bool { !dryRun }

    func validate() throws {
        if role != .cached, to != nil || source != nil {
            throw ValidationError("--to and --source are for --as cached")
        }
        if to == .icloud, backup == .exclude {
            throw ValidationError("--backup exclude is not for --to icloud: what is there is uploaded")
        }
    }

    func perform(in session: Session) async throws {
        try requireFolder()
        let request = MigrationRequest(
            of: FilePath(from), as: request, source: source ?? "", keyPrefix: keyPrefix, backup: backup.policy
        )
        let log = MigrationLog(in: session.place, isJSON: session.output.isJSON, isDryRun: dryRun)
        try await session.cache.migrate(request, dryRun: dryRun) { log.note($0) }
        try log.finish(to: session.output)
    }

    private var request: MigrationRequest.Role {
        switch role {
        case .documents: .promoted(to: .documents)
        case .support: .promoted(to: .applicationSupport)
        case .cached: .cached(to: (to ?? .support).destination("file", in: nil, backup: .include).area)
        }
    }

    private func requireFolder() throws(CommandFailure) {
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
