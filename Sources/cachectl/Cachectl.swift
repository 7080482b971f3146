internal import ArgumentParser

/// The root command, which inspects and manages an app's cache.
@main
struct Cachectl: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "cachectl",
        abstract: "Inspects and manages a prefetch cache.",
        usage: "cachectl [--container <dir> | --app <id>] [--json] [--quiet] [--verbose] <command> …",
        discussion: """
            Name the cache with --container (the folder that holds an app's Documents, Library and tmp) or \
            with --app (the identifier of an app on this machine). These two, --json, --quiet and --verbose may \
            come before or after the command.

            With --json every object on standard output has a "schemaVersion", and a failure is one object on \
            standard error: "error", "exitCode" and "message".

            Exit codes: 0 done, 1 a check found something, 64 wrong usage, 65 damaged or newer data, \
            66 no such item, file or cache, 69 a server failed, 73 destination not writable, 74 input/output error, \
            75 refused for now or too little room, 77 not permitted, 78 wrong configuration, 130 interrupted.
            """,
        subcommands: [
            Put.self, Fetch.self, List.self, Show.self, Cat.self, Open.self, Forget.self, Evict.self,
            Trim.self,
            CapacityCommand.self, Configure.self, Stats.self, Completions.self, Inventory.self, Manual.self,
            Migrate.self, Purge.self, Repair.self, Report.self, Verify.self, Watch.self,
        ])

    /// The commands that take the shared options.
    static var commandNames: Set<String> {
        Set(
            configuration.subcommands.lazy
                .filter { $0 is any CacheCommand.Type || $0 is any InspectingCommand.Type }
                .compactMap { $0.configuration.commandName })
    }

    static var allNames: [String] {
        ["help"] + configuration.subcommands.compactMap { $0.configuration.commandName }
    }

    static func main() async {
        StandardStreams.prepare()
        let invocation = Invocation(arguments: ArgumentBytes.ofProcess)
        await invocation.run().exit()
    }
}
