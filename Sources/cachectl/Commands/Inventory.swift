internal import ArgumentParser
internal import FileSystem
internal import PrefetchCache
internal import StorageInventory
internal import SystemPackage

/// `cachectl inventory`
struct Inventory: InspectingCommand {
    static let configuration = CommandConfiguration(
        commandName: "inventory",
        abstract:
            "Shows what an app stores, where, why and whether it is backed up, or checks it against rules.",
        usage: """
            cachectl inventory --container <dir> [--files | --csv | --json] [<filters>]
            cachectl inventory --container <dir> --check [--plist <file>] [--unused-for <duration>]
            cachectl inventory --rules
            """,
        discussion: Examples.inventory.discussion(
            """
            Looks at every file of the container, or of the app's areas, and changes nothing: a missing cache is \
            not created. The container may be a bundle that Xcode saved from a device (….xcappdata).

            Without --files it prints totals: by area and kind, as the system's storage settings show them, and \
            of a backup. BACKED UP shows the effect of marks and tags, which may differ from the intention: \
            --files shows both.

            --check checks the files against rules (--rules lists them). It prints one line per finding, and \
            exits with 1 if there are any.
            """))

    @Flag(help: "List every file, largest first.")
    var files = false

    @Flag(help: "Print every file as CSV (RFC 4180).")
    var csv = false

    @Flag(help: "Check the files against the rules.")
    var check = false

    @Flag(help: "List the rules.")
    var rules = false

    @Option(
        help: ArgumentHelp("The app's Info.plist, for --check.", valueName: "file"),
        completion: .file(extensions: ["plist"]), transform: FilePath.parse)
    var plist: FilePath?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "How long an excluded file may stay unused, for --check (default: 30d).",
            valueName: "duration"),
        transform: { try Lifetime($0) })
    var unusedFor: Lifetime?

    @Option(
        help: ArgumentHelp("Only this area; can be repeated.", valueName: "area"),
        completion: .list(AreaChoice.allValueStrings))
    var area: [AreaChoice] = []

    @Option(help: ArgumentHelp("Only this kind; can be repeated.", valueName: "kind"))
    var kind: [FileKind] = []

    @Option(help: "Only files from this feed or server.", transform: String.parse)
    var source: String?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Only files larger than this.", valueName: "size"),
        transform: { try ByteSize.parse($0) })
    var largerThan: ByteCount?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Only files stored, opened or changed longer ago.", valueName: "duration"),
        transform: { try Lifetime($0) })
    var olderThan: Lifetime?

    @OptionGroup var shared: SharedOptions

    var needsPlace: Bool { !rules }

    func validate() throws {
        guard [files, csv, check, rules].count(where: \.self) <= 1 else {
            throw ValidationError("give one of --files, --csv, --check and --rules")
        }
        if csv, shared.json { throw ValidationError("give either --csv or --json") }
        if check || rules, isFiltered {
            throw ValidationError("--check and --rules cover all files and take no filters")
        }
        if !check, plist != nil || unusedFor != nil {
            throw ValidationError("--plist and --unused-for are for --check")
        }
    }

    func inspect(_ fileSystem: any FileSystem, to output: Output) throws -> ExitCode {
        if rules {
            try RuleList.print(to: output)
            return .success
        }
        let settings = try settings(fileSystem)
        let place = try shared.place()
        let inventory = try inventory(of: place, fileSystem)
        if check {
            var options = Checkup.Options(now: Timestamp.now, settings: settings)
            if let unusedFor { options.unusedFor = unusedFor.milliseconds }
            return try CheckReport(inventory, options, fileSystem).print(to: output)
        }
        let selection = InventorySelection(
            areas: Set(area.map(\.area)), kinds: Set(kind), source: source, largerThan: largerThan?.bytes,
            before: olderThan.map { Timestamp.now - $0.milliseconds })
        try print(inventory, selection, to: output)
        return .success
    }

    private func inventory(of place: Place, _ fileSystem: any FileSystem) throws(CommandFailure)
        -> StorageInventory
    {
        do {
            return try StorageInventory(
                of: InventoryPlace(areas: place.areas, container: place.container), in: fileSystem)
        } catch {
            throw CommandFailure(error)
        }
    }

    private func settings(_ fileSystem: any FileSystem) throws(CommandFailure) -> AppSettings? {
        guard let plist else { return nil }
        do {
            return try AppSettings(at: plist, in: fileSystem)
        } catch {
            throw CommandFailure(error)
        }
    }

    private func print(_ inventory: StorageInventory, _ selection: InventorySelection, to output: Output)
        throws
    {
        if csv {
            try InventoryCSV(inventory, selection).print(to: output)
        } else if output.isJSON {
            try InventoryRecord(inventory, selection).print(
                withFiles: files, inventory, selection, to: output)
        } else if files {
            try InventoryTable(inventory, selection).printFiles(to: output)
        } else {
            try InventoryTable(inventory, selection).printSums(isFiltered: isFiltered, to: output)
        }
        for problem in inventory.problems {
            StandardStreams.writeError(
                "cachectl: warning: \(problem.path.displayText): \(problem.reason)")
        }
    }

    private var isFiltered: Bool {
        !area.isEmpty || !kind.isEmpty || source != nil || largerThan != nil || olderThan != nil
    }
}
