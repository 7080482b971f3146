internal import ArgumentParser

/// The processes that tests start.
@main
struct TestPrograms: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "testprograms",
        abstract: "Does with a cache what apps do, and watches it.",
        groupedSubcommands: [
            CommandGroup(
                name: "Many apps at once",
                subcommands: [
                    Store.self, Open.self, CallAPI.self, WatchLocks.self, PinMany.self, Follow.self,
                ]),
            CommandGroup(name: "Killed or stopped in the middle", subcommands: [Promote.self]),
            // For minutes and by the public interface alone. Each counts, times and checks by itself, holds that against
            // what the cache says, and ends with one line.
            CommandGroup(
                name: "What apps do",
                subcommands: [
                    Feed.self, FeedDaemon.self, Tiles.self, TileWorker.self,
                ]),
        ])
}

/// What every program of an app is told.
struct ProgramOptions: ParsableArguments {
    @Flag(help: "A small run, of seconds.")
    var quick = false
    @Flag(help: "Count, check, close and wait wrongly on purpose: the program has to find all of it.")
    var broken = false
    @Option(help: "Where to work. Otherwise root works on a new volume, and others in a temporary folder.")
    var folder: String?
}

/// The end of a program that cannot run here.
enum Skipped {
    /// As test programs end by convention.
    private static let code: Int32 = 77

    static func end(_ program: String, _ reason: String) throws -> Never {
        Output.write("\(program): skipped: \(reason)")
        throw ExitCode(code)
    }
}
