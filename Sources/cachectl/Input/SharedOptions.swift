internal import ArgumentParser
internal import Logging
internal import SystemPackage

/// The options that every command takes, before its name or after it; see ``SharedArguments``.
struct SharedOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The folder that holds an app's Documents, Library and tmp.", valueName: "dir"),
        completion: .directory, transform: FilePath.parse)
    var container: FilePath?

    @Option(
        help: ArgumentHelp("The identifier of an app, such as org.example.podcasts.", valueName: "id"),
        transform: String.parse)
    var app: String?

    @Flag(help: "Print JSON.")
    var json = false

    @Flag(help: "Log what the cache does to standard error.")
    var verbose = false

    @Flag(help: "Print only requested output and errors: no confirmations, no progress.")
    var quiet = false

    func validate() throws {
        if verbose, quiet { throw ValidationError("give either --verbose or --quiet, not both") }
        guard container == nil || app == nil else {
            throw ValidationError("give either --container or --app, not both")
        }
    }

    /// Called for commands that work on a place, which not every use of them does.
    func requirePlace() throws {
        guard container != nil || app != nil else {
            throw ValidationError("which cache? Give --container <dir> or --app <id>")
        }
    }

    func place() throws(CommandFailure) -> Place {
        do {
            if let container { return try Place(container: container) }
            return try Place(application: app ?? "")
        } catch {
            throw CommandFailure(error)
        }
    }

    var logger: Logger {
        var logger = Logger(label: "cachectl") { _ in StandardErrorLog() }
        logger.logLevel = verbose ? .debug : .error
        return logger
    }
}
