/// The arguments of the shared options.
///
/// ArgumentParser assigns an option to one command only. To accept shared options before the command's
/// name as well, leading ones are moved behind it before anything is parsed.
enum SharedArguments {
    private static let options: Set = ["--container", "--app"]
    private static let flags: Set = ["--json", "--verbose", "--quiet"]

    /// Whether the caller expects JSON, judging by arguments that may be invalid.
    static func askForJSON(_ arguments: [String]) -> Bool {
        arguments.prefix { $0 != "--" }.contains("--json")
    }

    /// The arguments with the command's name at the front. Arguments after the name are not examined, so
    /// that an operand that looks like an option stays an operand.
    ///
    /// - Throws: A usage failure when there are only shared options.
    static func movedBehindCommand(_ arguments: [String], of commands: Set<String>)
        throws(CommandFailure) -> [String]
    {
        let count = try leadingCount(arguments)
        guard count > 0 else { return arguments }
        guard let command = arguments.dropFirst(count).first else {
            throw CommandFailure(.usage, "no command was given (see 'cachectl --help')")
        }
        let rest = arguments.dropFirst(count + 1)
        // Help texts and unknown commands do not take the options.
        return commands.contains(command) ? [command] + arguments.prefix(count) + rest : [command] + rest
    }

    /// The number of arguments before the command's name that belong to shared options.
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
