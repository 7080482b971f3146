internal import ArgumentParser
internal import PrefetchCaching
internal import PrefetchFileSystem
internal import StorageInventory
internal import SystemPackage

struct Report: CacheCommand {
    static let configuration = CommandConfiguration(
        commandName: "report",
        abstract: "Writes an HTML page that shows where the bytes are.",
        discussion: """
            The page is a single file for any browser, without scripts, and loads nothing else. It charts the \
            budget, the volume, and the cache's bytes by area, source, age and encoding; then all files of the app \
            or container by area and purpose, what is backed up, what 'inventory --check' finds, and what happened last and why. It appears \
            complete under its name, or not at all.

            EXAMPLES:
              # Write a page for a browser
              cachectl report --html report.html --app org.example.app
              # Write it to standard output
              cachectl report --html - --container ./AppData >report.html
            """)

    @Option(
        help: ArgumentHelp("The file to write; - writes to standard output.", valueName: "file"),
        completion: .file(extensions: ["html"]), transform: FilePath.parse)
    var html: FilePath

    @Flag(help: "Replace the file if it exists; its owner and its permissions stay.")
    var force = false

    @OptionGroup var purposes: ManifestOption

    @OptionGroup var shared: SharedOptions

    var isLooking: Bool { true }

    func validate() throws {
        if html.isEmpty { throw ValidationError("--html needs the name of a file, or - for standard output") }
    }

    func perform(on cache: PrefetchCache, at place: Place, to output: Output) async throws {
        let file = html == "-" ? nil : NewFile(html, replacing: force)
        try file?.check()
        let text = try await page(in: cache, at: place).text
        guard let file else { return try StandardStreams.write(text + "\n") }
        try file.write(text + "\n")
        try output.report(
            ["path": html.json, "bytes": text.utf8.count + 1], ["wrote \(html.displayText)"],
            isConfirmation: true)
    }

    private func page(in cache: PrefetchCache, at place: Place) async throws -> ReportPage {
        let statistics = try await cache.statistics()
        let now = Timestamp.now
        let holdings = Holdings(
            items: try await cache.items(), partials: try await cache.partials(),
            promoted: try await cache.promotedFiles(), catalogBytes: statistics.catalogBytes,
            damagedItems: statistics.quarantinedItems, chargedBytes: statistics.chargedBytes, now: now)
        return ReportPage(
            name: shared.placeName, time: now, statistics: statistics, capacity: try await cache.capacity(),
            holdings: holdings, events: try await cache.journal().entries,
            contents: try contents(of: place, now: now))
    }

    private func contents(of place: Place, now: Int64) throws -> ContainerContents {
        let fileSystem = LiveFileSystem()
        let manifest = try purposes.read(in: fileSystem)
        let inventory = try FileInventory(
            of: InventoryPlace(areas: place.areas, container: place.container), in: fileSystem)
        let (findings, problems) = Checkup.run(
            on: inventory, Checkup.Options(now: now, manifest: manifest), in: fileSystem)
        return ContainerContents(
            of: inventory, findings, problems: inventory.problems.count + problems.count,
            explainedBy: manifest)
    }
}

/// Writes a file atomically. If it replaces another file, it keeps that file's owner, group and permissions.
struct NewFile {
    private let path: FilePath
    private let replaces: Bool
    private let fileSystem: any FileSystem

    /// - Parameter replaces: Whether to replace an existing regular file.
    init(_ path: FilePath, replacing replaces: Bool, in fileSystem: any FileSystem = LiveFileSystem()) {
        self.path = path
        self.replaces = replaces
        self.fileSystem = fileSystem
    }

    /// Checks whether ``write(_:)`` can succeed, before any work is done.
    func check() throws(CommandFailure) {
        guard let name = path.lastComponent, name.kind == .regular else {
            throw .usage("\(path.displayText) does not name a file; use - for standard output")
        }
        let found: FileAttributes?
        do throws(FileSystemError) {
            found = try inFolder { folder throws(FileSystemError) in
                try fileSystem.attributes(of: FilePath(root: nil, [name]), in: folder)
            }
        } catch {
            throw failure(error)
        }
        if let found { try refuse(found.kind) }
    }

    private func refuse(_ kind: FileAttributes.Kind) throws(CommandFailure) {
        guard kind == .regular else {
            throw CommandFailure(
                .cannotCreate,
                "\(path.displayText) is not a regular file and is not replaced; use - for standard output")
        }
        guard replaces else {
            throw CommandFailure(.cannotCreate, "\(path.displayText) exists; --force replaces it")
        }
    }

    func write(_ text: String) throws(CommandFailure) {
        try check()
        do throws(FileSystemError) {
            try inFolder { folder throws(FileSystemError) in try publish(Array(text.utf8), in: folder) }
        } catch {
            if error.errno == .fileExists { try refuse(.regular) }
            throw failure(error)
        }
    }

    private func publish(_ bytes: [UInt8], in folder: Descriptor) throws(FileSystemError) {
        let name = FilePath(root: nil, path.components.suffix(1))
        let replaced = replaces ? try fileSystem.attributes(of: name, in: folder) : nil
        // Hidden, and unique to this process.
        let draft = FilePath(".cachectl-\(String(UInt64.random(in: .min ... .max), radix: 16)).tmp")
        let file = try fileSystem.open(
            draft, in: folder,
            .createNew(replaced == nil ? [.ownerReadWrite, .groupRead, .otherRead] : .ownerReadWrite))
        do throws(FileSystemError) {
            defer { fileSystem.close(file) }
            try fileSystem.writeAll(bytes, to: file, at: 0)
            if let replaced {
                try fileSystem.setOwner(replaced.owner, group: replaced.group, of: file)
                try fileSystem.setPermissions(replaced.permissions, of: file)
            }
            try fileSystem.synchronize(file)
            try fileSystem.rename(draft, in: folder, to: name, in: folder, replaces ? .replacing : .exclusive)
        } catch {
            do throws(FileSystemError) {
                try fileSystem.unlink(draft, in: folder)
            } catch {
                // The original error is more informative.
            }
            throw error
        }
    }

    private func inFolder<Value>(
        _ body: (Descriptor) throws(FileSystemError) -> Value
    ) throws(FileSystemError) -> Value {
        let parent = path.removingLastComponent()
        return try fileSystem.withFile(
            parent.isEmpty ? "." : parent, in: .workingDirectory, .directoryFollowingLinks, body)
    }

    private func failure(_ error: FileSystemError) -> CommandFailure {
        CommandFailure(
            error.isNotPermitted ? .notPermitted : error.isOutOfSpace ? .inputOutput : .cannotCreate,
            "cannot write \(path.displayText): \(error.errno)" + CommandFailure.advice(on: .fileSystem(error))
        )
    }
}
