internal import ArgumentParser

/// One run of the command, from its arguments to its exit code.
struct Invocation {
    /// The request that the arguments make.
    enum Request {
        case command(any CacheCommand)
        case inspection(any InspectingCommand)
        /// A help text, or a script for a shell.
        case text(String)
    }

    let arguments: [String]

    func run() async -> ExitCode {
        do {
            switch try request() {
            case .command(let command): try await command.run()
            case .inspection(let command): return try await command.inspect()
            case .text(let text): try StandardStreams.writeOutput(text + "\n")
            }
            return .success
        } catch {
            let failure = CommandFailure(error)
            failure.report(asJSON: SharedArguments.askForJSON(arguments))
            return failure.code
        }
    }

    /// Parses the arguments.
    ///
    /// - Throws: A usage failure.
    func request() throws(CommandFailure) -> Request {
        do throws(CommandFailure) {
            return try parsed()
        } catch {
            throw CommandFailure(error.code, error.message.map(ArgumentBytes.shown))
        }
    }

    private func parsed() throws(CommandFailure) -> Request {
        let arguments = try SharedArguments.movedBehindCommand(arguments, of: Cachectl.commandNames)
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
            // The root and ArgumentParser's own commands throw the text that they have.
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
    /// The string, or its beginning and its end when it has more than `length` characters: the rejected
    /// value comes first, the reason last.
    fileprivate func clipped(to length: Int) -> String {
        count <= length ? self : prefix(length / 2) + " … " + suffix(length / 2)
    }
}
