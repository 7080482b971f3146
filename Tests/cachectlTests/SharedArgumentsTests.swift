import Testing

@testable import cachectl

@Suite struct SharedArgumentsTests {
    private static let commands: Set = ["put", "list"]

    @Test(arguments: [
        ([], []),
        (["list"], ["list"]),
        (["--container", "T", "list"], ["list", "--container", "T"]),
        (["--container=T", "list"], ["list", "--container=T"]),
        (
            ["--json", "--app", "x", "--verbose", "put", "k", "f"],
            ["put", "--json", "--app", "x", "--verbose", "k", "f"]
        ),
        (["list", "--json", "--container", "T"], ["list", "--json", "--container", "T"]),
        (["--container", "list", "list"], ["list", "--container", "list"]),
        (["--container", "--json", "list"], ["list", "--container", "--json"]),
        (["--container", "", "list"], ["list", "--container", ""]),
        (["--json", "put", "--", "--container", "-"], ["put", "--json", "--", "--container", "-"]),
    ])
    func leadingSharedOptionsMoveBehindTheCommand(_ arguments: [String], _ moved: [String]) throws {
        #expect(try SharedArguments.movedBehindCommand(arguments, of: Self.commands) == moved)
    }

    @Test(arguments: [
        (["--json", "--help"], ["--help"]),
        (["--container", "T", "help", "put"], ["help", "put"]),
        (["--container", "T", "frobnicate"], ["frobnicate"]),
        (["--unknown", "list"], ["--unknown", "list"]),
    ])
    func whatIsNoCommandIsLeftToTheParser(_ arguments: [String], _ moved: [String]) throws {
        #expect(try SharedArguments.movedBehindCommand(arguments, of: Self.commands) == moved)
    }

    @Test(arguments: [["--json"], ["--container", "T"], ["--container", "list"], ["--app=x"]])
    func sharedOptionsAloneAreNoCommand(_ arguments: [String]) {
        #expect(throws: CommandFailure(.usage, "no command was given (see 'cachectl --help')")) {
            try SharedArguments.movedBehindCommand(arguments, of: Self.commands)
        }
    }

    @Test func anOptionWithoutItsValueIsNamed() {
        #expect(throws: CommandFailure(.usage, "--app needs a value (see 'cachectl --help')")) {
            try SharedArguments.movedBehindCommand(["--json", "--app"], of: Self.commands)
        }
    }

    @Test func everyCommandHasAName() {
        #expect(
            Cachectl.commandNames == [
                "put", "fetch", "list", "show", "cat", "open", "forget", "evict", "trim", "capacity",
                "configure",
                "stats", "inventory",
            ])
    }
}
