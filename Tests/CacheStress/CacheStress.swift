internal import ArgumentParser

/// Works on a cache as many apps at once would, and watches its size from outside. For tests.
@main
struct CacheStress: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "cachestress",
        abstract: "Works on a cache as many apps at once would, and watches its size from outside.",
        subcommands: [
            Store.self, Open.self, Commands.self, Purge.self, CallAPI.self, WatchLocks.self, Sample.self,
            Hold.self, PinMany.self, Follow.self,
        ])
}
