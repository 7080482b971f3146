internal import ArgumentParser
internal import PrefetchCaching
internal import PrefetchFileSystem
internal import SystemPackage

struct Report: CacheCommand {
    static let configuration = CommandConfiguration(
        commandName: "report",
        abstract: "Writes an HTML page that shows where the bytes are.",
        discussion: """
            The page is a single file for any browser, without scripts, and loads nothing else. It charts the \
            budget, the volume, and the bytes by area, source, age and encoding. It appears complete under its name, \
            or not at all.

            EXAMPLES:
              # Write a page for a browser
              cachectl report --html report.html --app org.example.podcasts
              # Write it to standard output
              cachectl report --html - --container ./AppData >report.html
            """)

    @Option(
        help: ArgumentHelp("The file to write; - writes to standard output.", valueName: "file"),
        completion: .file(extensions: ["html"]), transform: FilePath.parse)
    var html: FilePath

    @Flag(help: "Replace the file if it exists; its owner and its permissions stay.")
    var force = false

    @OptionGroup var shared: SharedOptions

    func validate() throws {
        if html.isEmpty { throw ValidationError("--html needs the name of a file, or - for standard output") }
    }

    func perform(in session: Session) async throws {
        let file = html == "-" ? nil : NewFile(html, replacing: force)
        try file?.check()
        let text = try await page(in: session.cache).text
        guard let file else { return try StandardStreams.write(text + "\n") }
        try file.write(text + "\n")
        if session.output.isJSON {
            try session.output.print(json: ["path": html.json, "bytes": text.utf8.count + 1])
        } else {
            try session.output.confirm("wrote \(html.displayText.escapedForTerminal)")
        }
    }

    private func page(in cache: PrefetchCache) async throws -> ReportPage {
        let statistics = try await cache.statistics()
        let now = Timestamp.now
        let holdings = Holdings(
            items: try await cache.items(), partials: try await cache.partials(),
            promoted: try await cache.promotedFiles(), catalogBytes: statistics.catalogBytes,
            damagedItems: statistics.quarantinedItems, chargedBytes: statistics.chargedBytes, now: now)
        return ReportPage(
            name: shared.placeName, time: now, statistics: statistics, capacity: try await cache.capacity(),
            holdings: holdings)
    }
}
