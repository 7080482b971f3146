internal import ArgumentParser
internal import Logging
internal import PrefetchCaching
internal import PrefetchFileSystem
internal import StorageInventory
internal import SystemPackage

/// The options that every command accepts.
struct SharedOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp("The folder that holds an app's Documents, Library and tmp.", valueName: "dir"),
        completion: .directory, transform: FilePath.parse)
    var container: FilePath?

    @Option(
        help: ArgumentHelp(
            """
            The identifier of an app, such as org.example.app: of an installed one, or with --container of the \
            one whose container it is, so that what backups exclude goes to the app's folder.
            """, valueName: "id"),
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
    }

    /// Not part of `validate()`, since `inventory --rules` needs no cache.
    func requirePlace() throws {
        guard container != nil || app != nil else {
            throw ValidationError("no cache was specified; give --container <dir> or --app <id>")
        }
    }

    /// The cache, as the user named it.
    var placeName: String { container?.displayText ?? app ?? "" }

    func place() throws -> Place {
        try container.map { try Place(container: $0, of: app) }
            ?? Place(areas: .application(id: app ?? ""), container: nil)
    }

    var output: Output { Output(isJSON: json, isQuiet: quiet) }

    var logger: Logger {
        var logger = Logger(label: "cachectl") { _ in StandardErrorLog() }
        logger.logLevel = verbose ? .debug : .error
        return logger
    }
}

/// The location of the cache that a command works on.
struct Place {
    let areas: StorageAreas
    /// The container, if the user named one.
    let container: FilePath?

    /// The path to print: relative to the container; without one as it would be there, which names the area.
    func relativePath(_ path: AreaPath) -> String {
        guard let container, var full = areas.path(of: path.area)?.pushing(path.relative),
            full.removePrefix(container)
        else { return path.area.folderInContainer.pushing(path.relative).string }
        return full.string
    }
}

extension Place {
    /// The areas in a container, or in the container inside a bundle in which Xcode saved it (`.xcappdata`). The path
    /// may be `.` or a symbolic link to the bundle.
    init(container path: FilePath, of app: String? = nil) throws(StorageAreasError) {
        let name: FilePath
        do throws(FileSystemError) {
            name = try LiveFileSystem().resolved(path)
        } catch {
            // The path does not exist yet: use the name as given.
            name = path
        }
        let isBundle = name.lastComponent?.extension?.lowercased() == "xcappdata"
        let inside = try StorageAreas.container(at: isBundle ? path.appending("AppData") : path)
        areas =
            try app.map { id throws(StorageAreasError) in try inside.excluding(intoFolderOf: id) } ?? inside
        container = areas.documents.removingLastComponent()
    }
}
