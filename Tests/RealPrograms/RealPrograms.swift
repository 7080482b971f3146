internal import ArgumentParser

/// What apps do with a cache, for minutes and by the public interface alone. Each program counts, times and checks by
/// itself, holds that against what the cache says, and ends with one line.
@main
struct RealPrograms: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "realprograms",
        abstract: "Does with a cache what apps do, and watches it.",
        subcommands: [
            Feed.self, FeedDaemon.self, Tiles.self, TileWorker.self, Models.self, ModelStore.self,
            Hammer.self, HammerWorker.self,
        ])
}

/// What every program is told.
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
