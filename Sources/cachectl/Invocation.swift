internal import ArgumentParser

/// One run of the command, from its arguments to its exit code.
struct Invocation {
    enum Request {
        case command(any CacheCommand)
        case inspection(any InspectingCommand)
        /// A help text, or a shell script.
        case text(String)
    }

    let arguments: [String]

    func run() async -> ExitCode {
        do {
            switch try request() {
            case .command(let command): try await command.run()
            case .inspection(let command): return try await command.inspect()
            case .text(let text): try StandardStreams.write(text + "\n")
            }
            return .success
        } catch {
            let failure = CommandFailure(error)
            failure.report(asJSON: SharedArguments.askForJSON(arguments))
            return failure.code
        }
    }

    /// - Throws: A usage failure.
    func request() throws(CommandFailure) -> Request {
        do throws(CommandFailure) {
            return try parsed()
        } catch {
            throw CommandFailure(error.code, error.message.map(ArgumentBytes.shown))
        }
    }

    private func parsed() throws(CommandFailure) -> Request {
        let arguments = try SharedArguments.movedAfterCommand(arguments, of: Cachectl.commandNames)
        try CommandSpelling(names: Cachectl.allNames).check(arguments)
        do {
            var command = try Cachectl.parseAsRoot(arguments)
            if let command = command as? any CacheCommand {
                try command.shared.requirePlace()
                return .command(command)
            }
            if let command = command as? any InspectingCommand {
                if command.needsPlace { try command.shared.requirePlace() }
                return .inspection(command)
            }
            if let command = command as? any TextCommand { return .text(try command.text()) }
            // The root command and ArgumentParser's own commands throw their text.
            try command.run()
            return .text(Cachectl.helpMessage())
        } catch let failure as CommandFailure {
            throw failure
        } catch {
            if Cachectl.exitCode(for: error).isSuccess { return .text(Cachectl.fullMessage(for: error)) }
            let message = Cachectl.message(for: error).clipped(to: 500)
            throw CommandFailure(.usage, "\(message) (see 'cachectl --help')")
        }
    }
}

extension String {
    /// The string, with its middle elided if it has more than `length` characters: ArgumentParser's messages begin with
    /// the rejected value and end with the reason.
    fileprivate func clipped(to length: Int) -> String {
        count <= length ? self : prefix(length / 2) + " … " + suffix(length / 2)
    }
}

/// The arguments of the shared options.
///
/// ArgumentParser assigns an option to one command only. To accept shared options before the command's name as
/// well, leading ones are moved after it before parsing.
enum SharedArguments {
    private static let options: Set = ["--container", "--app"]
    private static let flags: Set = ["--json", "--verbose", "--quiet"]

    /// Whether the caller expects JSON. The arguments may be invalid.
    static func askForJSON(_ arguments: [String]) -> Bool {
        arguments.prefix { $0 != "--" }.contains("--json")
    }

    /// The arguments with the command's name first. Arguments after the name are not examined, so that an operand
    /// that looks like an option stays an operand.
    ///
    /// - Throws: A usage failure when there are only shared options.
    static func movedAfterCommand(_ arguments: [String], of commands: Set<String>)
        throws(CommandFailure) -> [String]
    {
        var rest = arguments[...]
        while let argument = rest.first {
            if flags.contains(argument) || options.contains(where: { argument.hasPrefix($0 + "=") }) {
                rest.removeFirst()
            } else if options.contains(argument) {
                guard rest.count > 1 else {
                    throw CommandFailure(.usage, "\(argument) needs a value (see 'cachectl --help')")
                }
                rest.removeFirst(2)
            } else {
                break
            }
        }
        let leading = arguments[..<rest.startIndex]
        if leading.isEmpty { return arguments }
        guard let command = rest.popFirst() else {
            throw CommandFailure(.usage, "no command was given (see 'cachectl --help')")
        }
        // Text commands and unknown commands do not accept the options.
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
        throw CommandFailure(.usage, "there is no command '\(shown)'\(guess) (see 'cachectl --help')")
    }

    /// The nearest name, if it is at most two edits away and the edits are fewer than half its length.
    private func nearest(to typed: String) -> String? {
        guard typed.utf8.count < 40 else { return nil }
        let distances = names.map { (name: $0, distance: Self.distance(Array($0.utf8), Array(typed.utf8))) }
        guard let best = distances.min(by: { $0.distance < $1.distance }) else { return nil }
        return best.distance <= 2 && best.distance * 2 < best.name.utf8.count ? best.name : nil
    }

    /// The restricted Damerau–Levenshtein distance (optimal string alignment), in bytes.
    ///
    /// - Complexity: O(*mn*).
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
