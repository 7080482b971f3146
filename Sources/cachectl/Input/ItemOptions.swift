public import ArgumentParser
public import PrefetchCaching

/// The options of 'put' and 'fetch' that describe the stored item.
struct ItemOptions: ParsableArguments {
    @Option(
        help: "The feed or server that the item comes from (default for 'fetch': the host).",
        transform: String.parse)
    var source: String?

    @Option(
        help: ArgumentHelp(
            "The area that the item is moved to when it is opened; 'none' for an item that is only ever read.",
            valueName: "area"))
    var to = ItemTarget.support

    @Option(
        help: "The name of the opened file (default: the name of the file or in the URL).",
        transform: FileName.parse)
    var name: FileName?

    @Option(
        help: ArgumentHelp(
            "The folder below the area, such as Podcasts/Daily; created if missing.", valueName: "path"),
        transform: FolderPath.parse)
    var folder: FolderPath?

    @Option(
        help: ArgumentHelp(
            "Whether backups should contain the opened file (default: exclude; with --to icloud include).",
            valueName: "choice"))
    var backup: BackupChoice?

    @Option(
        "How long the item is worth keeping: 45s, 30m, 12h, 7d or 2w.", "duration", parse: Lifetime.init(_:))
    var expires: Lifetime?

    @Option(
        "From 0 (the default) to 1: items of lower priority are evicted first, and this item displaces "
            + "none of higher priority.", "number", parse: Priority.parse)
    var priority: Float?

    @Flag(help: "Hand the item over at once, because the user asked for it.")
    var requested = false

    func validate() throws {
        if to == .none, name != nil || folder != nil || backup != nil || requested {
            throw ValidationError(
                "--name, --folder, --backup and --requested need a destination; not --to none")
        }
        if to == .icloud, backup == .exclude {
            throw ValidationError("--backup exclude cannot be used with --to icloud: its files are uploaded")
        }
        if requested, expires != nil || priority != nil {
            throw ValidationError(
                "--expires and --priority are for cached items; with --requested nothing is cached")
        }
    }

    /// - Parameter ownName: The name to use if `--name` is not given.
    func destination(_ ownName: @autoclosure () -> FileName) -> Destination? {
        Area(name: to.rawValue).flatMap {
            Destination(area: $0, name: name ?? ownName(), in: folder, backup: backup?.policy)
        }
    }

    /// When an item stored now expires, in milliseconds since 1970.
    var expiresAt: Int64? { expires?.end(from: Timestamp.now) }
}

/// Where an item goes when it is opened, if anywhere. The areas have the names of `Area`.
enum ItemTarget: String, CaseIterable, ExpressibleByArgument {
    case documents, support, icloud, none
}

enum BackupChoice: String, CaseIterable, ExpressibleByArgument {
    case include, exclude

    var policy: BackupPolicy { self == .include ? .include : .exclude }
}

enum EncodingOption: String, CaseIterable, ExpressibleByArgument {
    case automatic, lz4, identity

    var choice: EncodingChoice {
        ItemEncoding.allCases.first { $0.name == rawValue }.map { .forced($0) } ?? .automatic
    }
}

enum Switch: String, CaseIterable, ExpressibleByArgument {
    case on, off
}

extension EvictionPolicyChoice: ExpressibleByArgument {}
