internal import ArgumentParser
internal import PrefetchCaching
internal import PrefetchFileSystem
internal import SystemPackage

struct Report: CacheCommand {
    static let configuration = CommandConfiguration(
        commandName: "report",
        abstract: "Writes an HTML page with pictures of the cache.",
        discussion: """
            The page is a single file for any browser, without scripts, and loads nothing else. It shows which sources \
            fill the cache, what was used and what was wasted week by week, and what would be evicted next. It appears \
            complete under its name, or not at all, and replaces no other file.

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

    @OptionGroup var shared: SharedOptions

    var isLooking: Bool { true }

    func validate() throws {
        if html.isEmpty { throw ValidationError("--html needs the name of a file, or - for standard output") }
    }

    func perform(on cache: PrefetchCache, at place: Place, to output: Output) async throws {
        let file = html == "-" ? nil : NewFile(path: html)
        try file?.check()
        let text = try await page(of: cache).text + "\n"
        guard let file else { return try StandardStreams.write(text) }
        try file.write(Array(text.utf8))
        try output.report(
            ["path": html.json, "bytes": text.utf8.count], ["wrote \(html.displayText)"], isConfirmation: true
        )
    }

    private func page(of cache: PrefetchCache) async throws -> ReportPage {
        let statistics = try await cache.statistics()
        // In the order of the policy, whichever it is.
        let next = EvictionRequest(amount: .atLeast(.bytes(max(1, statistics.chargedBytes / 4))))
        return ReportPage(
            name: shared.placeName, time: Timestamp.now, statistics: statistics,
            freeBytes: try await cache.capacity().freeBytes, sources: try await cache.sources(),
            weeks: try await cache.history().byWeek, next: try await cache.evict(next, dryRun: true))
    }
}

/// A file that is not there yet, and appears complete or not at all.
struct NewFile {
    let path: FilePath
    private let fileSystem = LiveFileSystem()

    init(path: FilePath) { self.path = path }

    /// Checks whether ``write(_:)`` can succeed, before any work is done.
    func check() throws(CommandFailure) {
        guard let name = path.lastComponent, name.kind == .regular else {
            throw .usage("\(path.displayText) does not name a file; use - for standard output")
        }
        try inFolder { folder throws(FileSystemError) in
            if try fileSystem.attributes(of: FilePath(root: nil, [name]), in: folder) != nil {
                throw FileSystemError("rename", errno: .fileExists)
            }
        }
    }

    func write(_ bytes: [UInt8]) throws(CommandFailure) {
        try inFolder { folder throws(FileSystemError) in
            // Hidden, and unique to this process.
            let draft = FilePath(".cachectl-\(String(UInt64.random(in: .min ... .max), radix: 16)).tmp")
            let mode = OpenMode.createNew([.ownerReadWrite, .groupRead, .otherRead])
            let file = try fileSystem.open(draft, in: folder, mode)
            do throws(FileSystemError) {
                defer { fileSystem.close(file) }
                try fileSystem.writeAll(bytes, to: file, at: 0)
                try fileSystem.synchronize(file)
                let name = FilePath(root: nil, path.components.suffix(1))
                try fileSystem.rename(draft, in: folder, to: name, in: folder, .exclusive)
            } catch {
                do throws(FileSystemError) {
                    try fileSystem.unlink(draft, in: folder)
                } catch {
                    // The original error is more informative.
                }
                throw error
            }
        }
    }

    private func inFolder(_ body: (Descriptor) throws(FileSystemError) -> Void) throws(CommandFailure) {
        let parent = path.removingLastComponent()
        do throws(FileSystemError) {
            try fileSystem.withFile(
                parent.isEmpty ? "." : parent, in: .workingDirectory, .directoryFollowingLinks, body)
        } catch {
            if error.errno == .fileExists {
                throw CommandFailure(
                    .cannotCreate,
                    "\(path.displayText) exists and is not replaced; remove it, or use - for standard output")
            }
            throw CommandFailure(
                error.isNotPermitted ? .notPermitted : error.isOutOfSpace ? .inputOutput : .cannotCreate,
                "cannot write \(path.displayText): \(error.errno)"
                    + CommandFailure.advice(on: .fileSystem(error)))
        }
    }
}
