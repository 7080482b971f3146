import Testing

@testable import cachectl

@Suite struct CommandSpellingTests {
    private static let spelling = CommandSpelling(names: Cachectl.allNames)

    @Test(arguments: [
        ("stat", "stats"), ("stast", "stats"), ("lst", "list"), ("verfy", "verify"), ("capcity", "capacity"),
        ("evcit", "evict"), ("fecht", "fetch"), ("opne", "open"), ("hepl", "help"), ("manaul", "manual"),
    ])
    func aMistypedCommandIsRecognised(_ typed: String, _ meant: String) {
        for arguments in [[typed], [typed, "k"], ["help", typed]] {
            #expect(
                throws: CommandFailure(
                    .usage, "there is no command '\(typed)'; did you mean '\(meant)'? (see 'cachectl --help')"
                )
            ) { try Self.spelling.check(arguments) }
        }
    }

    @Test(arguments: ["frobnicate", "x", "", "delete", "ls", "rm"])
    func whatResemblesNoCommandIsNotGuessed(_ typed: String) {
        #expect(
            throws: CommandFailure(.usage, "there is no command '\(typed)' (see 'cachectl --help')")
        ) { try Self.spelling.check([typed]) }
    }

    @Test(arguments: [
        [], ["list", "k"], ["help"], ["help", "put"], ["--help"], ["help", "--help"], ["completions"],
    ])
    func whatIsRightPasses(_ arguments: [String]) throws {
        try Self.spelling.check(arguments)
    }

    @Test func aLongNameIsCutAndItsControlCharactersAreEscaped() {
        let typed = "\u{1B}[2J" + String(repeating: "x", count: 10_000)
        let shown = #"\u{1B}[2J"# + String(repeating: "x", count: 36)
        #expect(
            throws: CommandFailure(.usage, "there is no command '\(shown)' (see 'cachectl --help')")
        ) { try Self.spelling.check([typed]) }
    }
}
