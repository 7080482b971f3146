internal import ArgumentParser
internal import PrefetchCaching
internal import PrefetchFileSystem
internal import StorageInventory
internal import SystemPackage

struct Inventory: Command {
    static let configuration = CommandConfiguration(
        commandName: "inventory",
        abstract: "Shows or checks all that an app stores.",
        usage: """
            cachectl inventory --container <dir> [--files] [--json]
            cachectl inventory --container <dir> --check [--manifest <file>] [<options>]
            cachectl inventory --container <dir> --fix-script [<options>]
            cachectl inventory --container <dir> --draft-manifest
            cachectl inventory --rules
            """,
        discussion: """
            Inspects every file of the container, or of the app's areas, and changes nothing: a missing cache is \
            not created. The container may be a bundle that Xcode saved from a device (….xcappdata).

            Without --files it prints totals by area and kind, as in the system's storage settings, and for a \
            backup. BACKED UP shows the effect of marks and tags, which may differ from the intention: --files \
            shows both.

            --check checks the files against rules (--rules lists them). It prints one line per finding, and \
            exits with 1 if there are any.

            --fix-script prints, instead, a shell script that does what can be done without knowing the app: it moves \
            files to where they belong, sets or removes marks, removes empty folders, and takes what may be deleted \
            out of the container, into a folder beside it (for its age only if --unused-for states the age). It moves \
            no file that was opened from the cache, and replaces none. Quit the app, read it and run it.

            A manifest (storage.json) says of every file what it is and why it is stored. With --manifest the \
            check reports what it does not explain, and what is not as it says. --draft-manifest prints a first \
            version, made of what is there.

            EXAMPLES:
              # Print totals by area and kind
              cachectl inventory --app org.example.app
              # List the files that the user sees
              cachectl inventory --container App.xcappdata --files | grep ^documents
              # See what a feature of the app writes: before and after it, then diff
              cachectl inventory --container ./AppData --files --json >before
              # Check the files against the rules
              cachectl inventory --container ./AppData --check --plist Info.plist
              # See what can be mended, and mend it
              cachectl inventory --container ./AppData --fix-script >fix.sh && sh fix.sh
              # Write the first version of a manifest
              cachectl inventory --container ./AppData --draft-manifest >storage.json
              # Check the files against it
              cachectl inventory --container ./AppData --check --manifest storage.json
            """)

    @Flag(help: "List every file, largest first.")
    var files = false

    @Flag(help: "Check the files against the rules.")
    var check = false

    @Flag(help: "Check the files, and print a shell script that does what can be done about the findings.")
    var fixScript = false

    @Flag(help: "List the rules.")
    var rules = false

    @Flag(help: "Print a manifest of what is there, to be completed by hand.")
    var draftManifest = false

    @OptionGroup var purposes: ManifestOption

    @Option(
        help: ArgumentHelp("The app's Info.plist, for --check.", valueName: "file"),
        completion: .file(extensions: ["plist"]), transform: FilePath.parse)
    var plist: FilePath?

    @Option(
        "How long an excluded file may stay unused, for --check (default: 30d).", "duration",
        parse: Lifetime.init(_:))
    var unusedFor: Lifetime?

    @Option(
        help: ArgumentHelp(
            "Do not report what --check finds by this rule; can be repeated.", valueName: "rule"),
        completion: .list(StorageRules.infos.map(\.name)))
    var ignore: [String] = []

    @OptionGroup var shared: SharedOptions

    var needsPlace: Bool { !rules }

    func validate() throws {
        let modes = [files, isChecking, rules, draftManifest]
        guard modes.count(where: \.self) <= 1 else {
            throw ValidationError("give one of --files, --check, --fix-script, --rules and --draft-manifest")
        }
        if fixScript, shared.json { throw ValidationError("give either --fix-script or --json") }
        if let rule = ignore.first(where: { name in !StorageRules.infos.contains { $0.name == name } }) {
            throw ValidationError("there is no rule '\(rule)'; 'cachectl inventory --rules' lists them")
        }
        if !isChecking,
            !ignore.isEmpty || plist != nil || unusedFor != nil || purposes.manifest != nil
        {
            throw ValidationError(
                "--manifest, --plist, --ignore and --unused-for are for --check and --fix-script")
        }
    }

    private var isChecking: Bool { check || fixScript }

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
        // Before the walk, which may take long.
        let settings = try plist.map { try AppSettings(at: $0, in: fileSystem) }
        let manifest = try purposes.read(in: fileSystem)
        let cache = try shared.place()
        let inventory = try FileInventory(
            of: InventoryPlace(areas: cache.areas, container: cache.container), in: fileSystem)
        if isChecking {
            var options = Checkup.Options(now: Timestamp.now, settings: settings, manifest: manifest)
            options.unusedFor = unusedFor?.milliseconds
            let (all, problems) = Checkup.run(on: inventory, options, in: fileSystem)
            let findings = all.filter { !ignore.contains($0.rule.name) }
            let unread = inventory.problems + problems
            if fixScript {
                try output.print(verbatim: FixScript.text(for: findings, of: inventory, in: fileSystem))
                unread.warn()
                return false
            }
            try output.print(findings, problems: unread, of: inventory)
            return !findings.isEmpty
        }
        if draftManifest {
            let (findings, problems) = Checkup.run(
                on: inventory, Checkup.Options(now: Timestamp.now), in: fileSystem)
            try output.print(StorageManifest(draftOf: inventory, app: shared.app, findings: findings))
            (inventory.problems + problems).warn()
            return false
        }
        let printer = InventoryOutput(
            inventory: inventory, output: output, totals: InventoryTotals(of: inventory))
        if output.isJSON {
            try printer.printJSON(withFiles: files)
        } else if files {
            try printer.printFiles()
        } else {
            try printer.printSums()
        }
        inventory.problems.warn()
        return false
    }
}
