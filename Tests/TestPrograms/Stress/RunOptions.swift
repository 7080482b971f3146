internal import ArgumentParser

/// What every command that works for a while is told.
struct RunOptions: ParsableArguments {
    @Option(help: "The app's container.")
    var container: String
    @Option(help: "How long.")
    var seconds: Double
    @Option(help: "Different numbers make different work.")
    var seed: UInt64 = 1

    /// When the work is over, if it begins now.
    var deadline: ContinuousClock.Instant { .now + .seconds(seconds) }
}
