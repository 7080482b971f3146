internal import ArgumentParser

/// The root command, which inspects and manages an app's cache.
struct Cachectl: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Inspects and manages a prefetch cache.",
        usage: "cachectl <command> … [--container <dir> | --app <id>] [--json] [--quiet] [--verbose]",
        discussion: """
            Name the cache, after the command, with --container (the folder that holds an app's Documents, Library \
            and tmp) or with --app (the identifier of an app on this machine). With --json every object on standard \
            output has a "schemaVersion", and a failure is one object on standard error.
            Exit codes: 0 done, 1 found something, 64 wrong usage, 65 damaged or newer data, 66 no such item, file or \
            cache, 69 server failed, 73 destination not writable, 74 input/output error, 75 refused for now or too \
            little room, 77 not permitted, 78 wrong configuration, 129, 130 and 143 ended by a signal.
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
        let name = arguments.first == "help" ? arguments.dropFirst().first : arguments.first
        if let name, !name.hasPrefix("-"), !Cachectl.allNames.contains(name) {
            throw .usage("there is no command '\(name.prefix(40))'")
        }
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
