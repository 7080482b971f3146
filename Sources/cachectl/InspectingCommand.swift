internal import ArgumentParser
internal import FileSystem
internal import PrefetchCache

/// A subcommand that looks at files and changes nothing: it does not open a cache, since that would create a
/// missing one.
protocol InspectingCommand: AsyncParsableCommand {
    var shared: SharedOptions { get }

    /// Whether the command looks at a place at all.
    var needsPlace: Bool { get }

    /// Performs the command. It may block.
    func inspect(_ fileSystem: any FileSystem, to output: Output) throws -> ExitCode
}

extension InspectingCommand {
    var needsPlace: Bool { true }

    /// Performs the command on a thread that may block.
    func inspect() async throws(CommandFailure) -> ExitCode {
        do {
            return try await withTaskExecutorPreference(BlockingExecutor()) { try await inspectAndFlush() }
        } catch {
            throw CommandFailure(error)
        }
    }

    private func inspectAndFlush() async throws -> ExitCode {
        let output = Output(isJSON: shared.json, isQuiet: shared.quiet)
        let code = try inspect(LiveFileSystem(), to: output)
        try output.flush()
        return code
    }
}
