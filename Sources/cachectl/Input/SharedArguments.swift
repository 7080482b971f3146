/// The arguments of the shared options.
///
/// ArgumentParser gives an option to one command only. So that a shared option may stand before the
/// command's name as well, the leading ones are moved behind it before anything is parsed.
enum SharedArguments {
    private static let options: Set = ["--container", "--app"]
    private static let flags: Set = ["--json", "--verbose", "--quiet"]

    /// Whether the caller reads JSON, as far as can be told from arguments that need not be right.
    static func askForJSON(_ arguments: [String]) -> Bool {
        arguments.prefix { $0 != "--" }.contains("--json")
    }

    /// The same arguments with the command's name at the front. What follows the name is not looked
    /// at, so that an operand that looks like an option stays one.
    ///
    /// - Throws: A failure of usage when shared options are all there is.
    static func movedBehindCommand(_ arguments: [String], of commands: Set<String>)
        throws(CommandFailure) -> [String]
    {
        let count = try leadingCount(arguments)
        guard count > 0 else { return arguments }
        guard let command = arguments.dropFirst(count).first else {
            throw CommandFailure(.usage, "no command was given (see 'cachectl --help')")
        }
        let rest = arguments.dropFirst(count + 1)
        // The options belong to no help text, and to no name that is unknown.
        return commands.contains(command) ? [command] + arguments.prefix(count) + rest : [command] + rest
    }

    /// How many arguments before the command's name belong to shared options.
    private static func leadingCount(_ arguments: [String]) throws(CommandFailure) -> Int {
        var index = 0
        while index < arguments.count {
            let argument = arguments[index]
            if flags.contains(argument) || options.contains(where: { argument.hasPrefix($0 + "=") }) {
                index += 1
            } else if options.contains(argument) {
                guard index + 1 < arguments.count else {
                    throw CommandFailure(.usage, "\(argument) needs a value (see 'cachectl --help')")
                }
                index += 2
            } else {
                break
            }
        }
        return index
    }
}
