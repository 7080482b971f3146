internal import ArgumentParser

/// The processes that tests start: many at once on one cache, and one that is killed or stopped in the middle.
@main
struct TestPrograms: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "testprograms",
        abstract: "Works on a cache as tests tell it to.",
        subcommands: [
            Store.self, Open.self, CallAPI.self, WatchLocks.self, PinMany.self, Follow.self, Promote.self,
        ])
}
