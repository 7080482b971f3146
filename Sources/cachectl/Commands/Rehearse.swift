internal import ArgumentParser
internal import PrefetchCaching
internal import PrefetchFileSystem
internal import StorageInventory

struct Rehearse: CacheCommand {
    /// What is rehearsed.
    enum Event: String, CaseIterable, ExpressibleByArgument {
        case purge, offload, restore, pressure

        /// `nil` for pressure, under which only the cache gives something up.
        var loss: Loss? {
            switch self {
            case .purge: .purge
            case .offload: .offload
            case .restore: .restore
            case .pressure: nil
            }
        }
    }

    static let configuration = CommandConfiguration(
        commandName: "rehearse",
        abstract: "Says what would be left after a purge, a restore or an offload, or when space is short.",
        usage: """
            cachectl rehearse purge | offload [--manifest <file>]
            cachectl rehearse restore [--backup-tool <tool>] [--manifest <file>]
            cachectl rehearse pressure --free <size>
            """,
        discussion: """
            It changes nothing.

            purge: the system deletes what it may, while the app is not running. \
            offload: it removes the app, and later installs it again with its documents and data. \
            restore: the container is set up from a backup.

            Each file that would be gone is listed with what becomes of it: missed (a cached item, downloaded \
            again when it is wanted), rehydrated ('cachectl fetch --missing' downloads it), downloaded (by the app), \
            remade, lost, or unknown, if neither the cache nor a manifest knows.

            pressure: only so much could still be written to the volume. Says what the cache would evict, and what \
            it would then still store.

            EXAMPLES:
              # What would the system take, and what would have to be downloaded again?
              cachectl rehearse purge --app org.example.app
              # What would restic not bring back?
              cachectl rehearse restore --backup-tool restic --container ./AppData
              # What would go if only 2 GB were free?
              cachectl rehearse pressure --free 2GB --app org.example.app
            """)

    @Argument(help: "purge, offload, restore or pressure.")
    var event: Event

    @Option("The space that is left on the volume, for pressure.", "size", parse: ByteSize.parse)
    var free: ByteCount?

    @Option(
        help: ArgumentHelp(
            "What has taken the backup, for restore: the system, tar, restic, borg or none.",
            valueName: "tool"))
    var backupTool = BackupTool.system

    @OptionGroup var purposes: ManifestOption

    @OptionGroup var shared: SharedOptions

    var isLooking: Bool { true }

    func validate() throws {
        guard (event == .pressure) == (free != nil) else {
            throw ValidationError(
                free == nil ? "give --free <size>, such as 2GB" : "--free is for 'rehearse pressure'")
        }
        if event != .restore, backupTool != .system {
            throw ValidationError("--backup-tool is for 'rehearse restore'")
        }
        if event == .pressure, purposes.manifest != nil {
            throw ValidationError(
                "--manifest is not for 'rehearse pressure', which concerns cached items only")
        }
    }

    func run() async throws {
        guard let loss = event.loss else { return try await runOnCache() }
        // Without opening a cache, which could be a damaged one. Its threads may block.
        try await withTaskExecutorPreference(BlockingExecutor()) {
            let fileSystem = LiveFileSystem()
            let manifest = try purposes.read(in: fileSystem)
            let place = try shared.place()
            let inventory = try FileInventory(
                of: InventoryPlace(
                    areas: place.areas, container: place.container, backupTool: backupTool),
                in: fileSystem)
            let output = shared.output
            try LossTable(inventory: inventory, loss: loss, tool: backupTool, manifest: manifest)
                .print(to: output)
            inventory.problems.warn()
            try output.flush()
        }
    }

    func perform(on cache: PrefetchCache, at place: Place, to output: Output) async throws {
        guard let free else { return }
        let rehearsal = try await cache.rehearse(available: free)
        let (items, after) = (rehearsal.evicted.filter { $0.kind == .item }, rehearsal.after)
        let evictedBytes = rehearsal.evicted.reduce(0) { $0 + $1.chargedBytes }
        if output.isJSON {
            return try output.print(json: [
                "event": event.rawValue, "freeBytes": free.bytes, "pressure": rehearsal.pressure.rawValue,
                "evicted": items.compactMap(\.key?.string),
                // Partials and quarantined items.
                "others": rehearsal.evicted.count - items.count, "evictedBytes": evictedBytes,
                "remainingItems": rehearsal.remainingItems, "remainingBytes": after.chargedBytes,
                "pressureAfter": after.pressure.rawValue, "budgetBytes": after.budgetBytes,
                "refusal": (after.admissionBlock?.reason).orNull, "largestItemBytes": after.largestItemBytes,
            ])
        }
        let summary = TextTable([
            "pressure": rehearsal.pressure.rawValue
                + (after.pressure == rehearsal.pressure ? "" : ", then \(after.pressure.rawValue)"),
            "would be evicted": "\(Count.text(rehearsal.evicted.count, "file")), \(Size.text(evictedBytes))",
            "would stay":
                "\(Count.text(rehearsal.remainingItems, "item")), \(Size.text(after.chargedBytes)) in all, of a "
                + "budget of \(Size.text(after.budgetBytes))",
            "prefetching": after.admissionBlock.map { "refused: \($0.message)" }
                ?? "goes on with items of up to \(Size.text(after.largestItemBytes))",
        ])
        var table = TextTable([.left, .right, .left])
        table.add(["WOULD GO", "CHARGED", "KEY"])
        for file in rehearsal.evicted {
            table.add([file.kind.rawValue, Size.text(file.chargedBytes), file.key?.string ?? "-"])
        }
        try output.print(summary.lines + (rehearsal.evicted.isEmpty ? [] : [""] + table.lines))
    }
}
