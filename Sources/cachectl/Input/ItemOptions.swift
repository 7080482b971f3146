internal import ArgumentParser
internal import PrefetchCache

/// The options of 'put' and 'fetch' for an item that they store: its source, its destination, and how long it is
/// worth keeping.
struct ItemOptions: ParsableArguments {
    @Option(help: "The feed or server that the item comes from; for 'fetch' the host when left out.")
    var source: String?

    @Option(help: ArgumentHelp("Where the item goes when it is opened.", valueName: "area"))
    var to = DestinationArea.support

    @Option(
        help: ArgumentHelp(
            "The name that the file gets when it is opened; that of the file or in the URL when left out."),
        transform: FileName.parse)
    var name: FileName?

    @Option(
        help: ArgumentHelp(
            "The folder below the area that it goes to, such as Podcasts/Daily; made when it is missing.",
            valueName: "path"),
        transform: FolderPath.parse)
    var folder: FolderPath?

    @Option(help: ArgumentHelp("Whether backups shall contain the opened file.", valueName: "choice"))
    var backup = BackupChoice.include

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "How long the item is worth keeping: 45s, 30m, 12h, 7d or 2w.", valueName: "duration"),
        transform: { try Lifetime($0) })
    var expires: Lifetime?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "From 0 (the default) to 1: items of lower priority are evicted first, and none of a higher one "
                + "for this item.", valueName: "number"),
        transform: Priority.parse)
    var priority: Float?

    @Flag(help: "Hand the item over at once: the user asked for it.")
    var requested = false

    func validate() throws {
        if to == .icloud, backup == .exclude {
            throw ValidationError("--backup exclude is not for --to icloud: what is there is uploaded")
        }
        if requested, expires != nil || priority != nil {
            throw ValidationError(
                "--expires and --priority are for what stays in the cache; with --requested nothing does")
        }
    }

    var intent: Intent { requested ? .userRequested : .opportunistic }

    /// - Parameter ownName: The name of the content itself.
    func destination(_ ownName: @autoclosure () -> FileName) -> Destination {
        to.destination(name ?? ownName(), in: folder, backup: backup)
    }

    /// When an item that is stored now expires, in milliseconds since 1970.
    var expiresAt: Int64? { expires?.end(from: Timestamp.now) }
}
