internal import ArgumentParser

/// The root command, which inspects and manages an app's cache.
struct Cachectl: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
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
            75 refused for now or too little room, 77 not permitted, 78 wrong configuration, 130 interrupted \
            (143 by SIGTERM, 129 by SIGHUP).
            """,
        version: Version.text,
        subcommands: commands)

    // The names are in the configurations: to derive one from a type takes a tenth of a millisecond.
    private static let commands: [any Command.Type] = [
        Put.self, Fetch.self, List.self, Show.self, Cat.self, Open.self, Forget.self, Evict.self, Trim.self,
        CapacityCommand.self, Configure.self, Stats.self, Events.self, Inventory.self,
        Migrate.self, Purge.self, Repair.self, Report.self, Verify.self, Watch.self,
    ]

    /// The commands that take the shared options.
    static var commandNames: Set<String> { Set(commands.map { $0._commandName }) }

    static var allNames: [String] { ["help"] + configuration.subcommands.map { $0._commandName } }
}

/// One run of the command, from its arguments to its exit code.
struct Invocation {
    enum Request {
        case command(any Command)
        /// A help text or a shell script.
        case text(String)
    }

    let arguments: [String]

    func run() async -> ExitCode {
        do {
            switch try request() {
            case .command(var command):
                let signals = isJSON && !command.handlesSignals ? SignalHandler.reportingAsJSON() : nil
                defer { signals?.end() }
                try await command.run()
            case .text(let text): try StandardStreams.write(text + "\n")
            }
            return .success
        } catch {
            let failure = CommandFailure(error)
            failure.report(asJSON: isJSON)
            return failure.code
        }
    }

    /// A message of ArgumentParser in the style of all others, with a hint at a frequent slip: `--budget 20 MB`.
    private static func asOurs(_ message: String) -> String {
        let isSentence = message.prefix(2).last?.isLowercase == true
        let message = isSentence ? message.prefix(1).lowercased() + message.dropFirst() : message
        let isUnit = message.firstMatch(of: /unexpected argument '([kKMGT]i?)?B'/) != nil
        return isUnit ? message + "; write a size without a space, such as 20MB" : message
    }

    /// The arguments may be invalid, so they are not parsed.
    private var isJSON: Bool { arguments.prefix { $0 != "--" }.contains("--json") }

    func request() throws(CommandFailure) -> Request {
        let arguments = try SharedArguments.movedAfterCommand(arguments, of: Cachectl.commandNames)
        try CommandSpelling(names: Cachectl.allNames).check(arguments)
        do {
            var command = try Cachectl.parseAsRoot(arguments)
            if let command = command as? any Command {
                if command.needsPlace { try command.shared.requirePlace() }
                return .command(command)
            }
            // All others throw their text.
            try command.run()
            return .text(Cachectl.helpMessage())
        } catch let failure as CommandFailure {
            throw failure
        } catch {
            if Cachectl.exitCode(for: error).isSuccess { return .text(Cachectl.fullMessage(for: error)) }
            let message = Self.asOurs(Cachectl.message(for: error))
            // It begins with the rejected value, which may be long, and ends with the reason.
            throw .usage(
                message.count <= 500 ? message : message.prefix(250) + " … " + message.suffix(250),
                of: arguments.first.flatMap { Cachectl.commandNames.contains($0) ? $0 : nil })
        }
    }
}

/// The arguments of the shared options.
///
/// ArgumentParser assigns an option to one command only. To accept shared options before the command's name as
/// well, leading ones are moved after it before parsing.
enum SharedArguments {
    private static let options: Set = ["--container", "--app"]
    private static let flags: Set = ["--json", "--verbose", "--quiet"]

    /// The arguments with the command's name first. Arguments after the name are not examined, so that an operand
    /// that looks like an option stays an operand.
    static func movedAfterCommand(_ arguments: [String], of commands: Set<String>)
        throws(CommandFailure) -> [String]
    {
        var rest = arguments[...]
        while let argument = rest.first {
            if flags.contains(argument) || options.contains(where: { argument.hasPrefix($0 + "=") }) {
                rest.removeFirst()
            } else if options.contains(argument) {
                guard rest.count > 1 else { throw .usage("\(argument) needs a value") }
                rest.removeFirst(2)
            } else {
                break
            }
        }
        let leading = arguments[..<rest.startIndex]
        if leading.isEmpty { return arguments }
        guard let command = rest.popFirst() else { throw .usage("no command was given") }
        // `help`, and what is no command, do not accept the options.
        return [command] + (commands.contains(command) ? leading : []) + rest
    }
}

/// Suggests a command for a mistyped name.
struct CommandSpelling {
    let names: [String]

    /// - Throws: A usage failure if the argument in the command's position is not a command.
    func check(_ arguments: [String]) throws(CommandFailure) {
        let name = arguments.first == "help" ? arguments.dropFirst().first : arguments.first
        guard let name, !name.hasPrefix("-"), !names.contains(name) else { return }
        let shown = ArgumentBytes.shown(name.prefix(40).description).escapedForTerminal
        let guess = nearest(to: name).map { "; did you mean '\($0)'?" } ?? ""
        throw .usage("there is no command '\(shown)'\(guess)")
    }

    /// The nearest name, if it is at most two edits away and the edits are fewer than half its length.
    private func nearest(to typed: String) -> String? {
        guard typed.utf8.count < 40 else { return nil }
        let distances = names.map { (name: $0, distance: Self.distance(Array($0.utf8), Array(typed.utf8))) }
        guard let best = distances.min(by: { $0.distance < $1.distance }) else { return nil }
        return best.distance <= 2 && best.distance * 2 < best.name.utf8.count ? best.name : nil
    }

    /// The restricted Damerau–Levenshtein distance (optimal string alignment), in bytes.
    private static func distance(_ a: [UInt8], _ b: [UInt8]) -> Int {
        var rows = [Array(0...b.count)]
        for i in 0..<a.count {
            var row = [i + 1]
            for j in 0..<b.count {
                var least = min(rows[i][j + 1] + 1, row[j] + 1, rows[i][j] + (a[i] == b[j] ? 0 : 1))
                if i > 0, j > 0, a[i] == b[j - 1], a[i - 1] == b[j] {
                    least = min(least, rows[i - 1][j - 1] + 1)
                }
                row.append(least)
            }
            rows.append(row)
        }
        return rows[a.count][b.count]
    }
}
