internal import ArgumentParser
internal import PrefetchCaching
internal import PrefetchFileSystem
internal import PrefetchStorageInventory
internal import SystemPackage

struct Inventory: Command {
    static let configuration = CommandConfiguration(
        abstract:
            "Shows what an app stores, where, why and whether it is backed up, or checks it against rules.",
        usage: """
            cachectl inventory --container <dir> [--files | --csv | --json] [<filters>]
            cachectl inventory --container <dir> --check [--sarif] [--plist <file>] [--unused-for <duration>]
            cachectl inventory --rules
            """,
        discussion: """
            Inspects every file of the container, or of the app's areas, and changes nothing: a missing cache is \
            not created. The container may be a bundle that Xcode saved from a device (….xcappdata).

            Without --files it prints totals by area and kind, as in the system's storage settings, and for a \
            backup. BACKED UP shows the effect of marks and tags, which may differ from the intention: --files \
            shows both.

            --check checks the files against rules (--rules lists them). It prints one line per finding, and \
            exits with 1 if there are any. With --sarif it prints a log that code review tools show.

            EXAMPLES:
              # Print totals by area and kind
              cachectl inventory --app org.example.podcasts
              # List old files that the user sees
              cachectl inventory --container Podcasts.xcappdata --files --area documents --older-than 90d
              # Foreign files as a table
              cachectl inventory --container ./AppData --csv --kind foreign >foreign.csv
              # Check the files against the rules
              cachectl inventory --container ./AppData --check --plist Info.plist
              # The findings for a code review
              cachectl inventory --container ./AppData --check --sarif >storage.sarif
            """)

    @Flag(help: "List every file, largest first.")
    var files = false

    @Flag(help: "Print every file as CSV (RFC 4180).")
    var csv = false

    @Flag(help: "Check the files against the rules.")
    var check = false

    @Flag(help: "Print what --check finds as SARIF 2.1.0.")
    var sarif = false

    @Flag(help: "List the rules.")
    var rules = false

    @Option(
        help: ArgumentHelp("The app's Info.plist, for --check.", valueName: "file"),
        completion: .file(extensions: ["plist"]), transform: FilePath.parse)
    var plist: FilePath?

    @Option(
        "How long an excluded file may stay unused, for --check (default: 30d).", "duration",
        parse: Lifetime.init(_:))
    var unusedFor: Lifetime?

    @Option(
        help: ArgumentHelp("Only this area; can be repeated.", valueName: "area"),
        completion: .list(AreaChoice.allValueStrings))
    var area: [AreaChoice] = []

    @Option(help: ArgumentHelp("Only this kind; can be repeated.", valueName: "kind"))
    var kind: [FileKind] = []

    @Option(help: "Only files from this feed or server.", transform: String.parse)
    var source: String?

    @Option("Only files larger than this.", "size", parse: ByteSize.parse)
    var largerThan: ByteCount?

    @Option("Only files stored, opened or changed longer ago.", "duration", parse: Lifetime.init(_:))
    var olderThan: Lifetime?

    @OptionGroup var shared: SharedOptions

    var needsPlace: Bool { !rules }

    func validate() throws {
        guard [files, csv, check, rules].count(where: \.self) <= 1 else {
            throw ValidationError("give one of --files, --csv, --check and --rules")
        }
        if csv, shared.json { throw ValidationError("give either --csv or --json") }
        if sarif, shared.json { throw ValidationError("give either --sarif or --json") }
        if check || rules, isFiltered {
            throw ValidationError("--check and --rules cover all files and take no filters")
        }
        if !check, sarif || plist != nil || unusedFor != nil {
            throw ValidationError("--sarif, --plist and --unused-for are for --check")
        }
    }

    /// Does not open a cache, since opening creates a missing one.
    func run() async throws {
        // Its threads may block.
        try await withTaskExecutorPreference(BlockingExecutor()) {
            let output = shared.output
            let hasFindings = try inspect(LiveFileSystem(), to: output)
            try output.flush()
            if hasFindings { throw CommandFailure(.found, nil) }
        }
    }

    /// - Returns: Whether a check found something.
    private func inspect(_ fileSystem: LiveFileSystem, to output: Output) throws -> Bool {
        if rules {
            try output.print(StorageRules.infos)
            return false
        }
        let settings = try plist.map { try AppSettings(at: $0, in: fileSystem) }
        let place = try shared.place()
        let inventory = try StorageInventory(
            of: InventoryPlace(areas: place.areas, container: place.container), in: fileSystem)
        if check {
            var options = Checkup.Options(now: Timestamp.now, settings: settings)
            if let unusedFor { options.unusedFor = unusedFor.milliseconds }
            let (findings, problems) = Checkup.run(on: inventory, options, in: fileSystem)
            let unread = inventory.problems + problems
            if sarif {
                try output.print(verbatim: SARIF.log(of: findings, problems: unread).utf8)
                unread.warn()
            } else {
                try output.print(findings, problems: unread, of: inventory)
            }
            return !findings.isEmpty
        }
        let start = olderThan?.start(before: Timestamp.now)
        let isSelected = { (file: InventoryFile) in self.isSelected(file, storedBefore: start) }
        let printer = InventoryOutput(
            inventory: inventory, output: output, isSelected: isSelected,
            totals: InventoryTotals(of: inventory, only: isSelected))
        if csv {
            try printer.printCSV()
        } else if output.isJSON {
            try printer.printJSON(withFiles: files)
        } else if files {
            try printer.printFiles()
        } else {
            try printer.printSums(isFiltered: isFiltered)
        }
        inventory.problems.warn()
        return false
    }

    private var isFiltered: Bool {
        !area.isEmpty || !kind.isEmpty || source != nil || largerThan != nil || olderThan != nil
    }

    private func isSelected(_ file: InventoryFile, storedBefore start: Int64?) -> Bool {
        (area.isEmpty || area.contains { $0.area == file.area }) && (kind.isEmpty || kind.contains(file.kind))
            // Compared as bytes: Swift's `==` treats canonically equivalent strings as equal.
            && (source.map { file.facts?.source?.utf8.elementsEqual($0.utf8) ?? false } ?? true)
            && (largerThan.map { file.length > $0.bytes } ?? true) && (start.map { file.since < $0 } ?? true)
    }
}

/// An area as an argument, or `other` for files outside all areas.
struct AreaChoice: ExpressibleByArgument {
    let area: Area?

    init?(argument: String) {
        guard Self.allValueStrings.contains(argument) else { return nil }
        area = Area(name: argument)
    }

    static var allValueStrings: [String] { (Area.allCases as [Area?] + [nil]).map(\.choiceName) }
}

extension FileKind: ExpressibleByArgument {}

extension Area? {
    /// The name in arguments and in output.
    var choiceName: String { self?.name ?? "other" }
}
