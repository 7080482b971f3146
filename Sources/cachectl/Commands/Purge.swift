internal import ArgumentParser
internal import PrefetchCache

/// `cachectl purge`
struct Purge: CacheCommand {
    static let configuration = CommandConfiguration(
        commandName: "purge",
        abstract: "Removes opened files that are excluded from backups and that nobody has used for long.",
        usage: "cachectl purge --excluded --older-than <duration> [--dry-run]",
        discussion: Examples.purge.discussion(
            """
            What is excluded from backups can be downloaded again, and stays on the device until its app removes \
            it. A file counts as used when it is opened through the cache, read or written to: the latest of the \
            times when it was handed over, modified and accessed. Only a file goes that is still, byte for byte, \
            what was handed over. Its key can then be stored and opened again.
            """))

    @Flag(help: "Of the files that are excluded from backups; no others can be purged.")
    var excluded = false

    @Option(
        name: .customLong("older-than"), parsing: .unconditional,
        help: ArgumentHelp("Not used for this long: 45s, 30m, 12h, 7d or 2w.", valueName: "duration"),
        transform: { try Lifetime($0) })
    var age: Lifetime

    @Flag(help: "Only list what would go.")
    var dryRun = false

    @OptionGroup var shared: SharedOptions

    var settlesAtOpening: Bool { !dryRun }
    var onlyLooks: Bool { dryRun }

    func validate() throws {
        guard excluded else {
            throw ValidationError("say --excluded: only files that are excluded from backups are purged")
        }
    }

    func perform(in session: Session) async throws {
        let report = try await session.cache.purgeExcluded(
            unusedSince: age.start(before: Timestamp.now), dryRun: dryRun)
        guard !session.output.isJSON else {
            return try session.output.print(json: PurgeRecord(report, isDryRun: dryRun, in: session.place))
        }
        var table = TextTable([.left, .right, .left, .left])
        for (file, what) in report.purged.map({ ($0, dryRun ? "would purge" : "purged") })
            + report.changed.map({ ($0, "kept, changed") })
        {
            table.add([
                what, Size.text(file.length), Timestamp.text(milliseconds: file.lastUse),
                session.place.relativePath(file.location).escapedForTerminal,
            ])
        }
        for line in table.lines { try session.output.report(line, isDryRun: dryRun) }
        let sum = "\(report.purged.count) files, \(Size.text(report.purgedBytes))"
        try session.output.report(
            report.purged.isEmpty ? "nothing to purge" : dryRun ? "would free \(sum)" : "freed \(sum)",
            isDryRun: dryRun)
    }
}

private struct PurgeRecord: Encodable {
    struct File: Encodable {
        let key: String
        let path: String
        let bytes: Int64
        let lastUseMilliseconds: Int64
    }

    let dryRun: Bool
    let purgedBytes: Int64
    let purged: [File]
    let changed: [File]

    init(_ report: PurgeReport, isDryRun: Bool, in place: Place) {
        func record(_ file: PurgeReport.File) -> File {
            File(
                key: file.key.string, path: place.relativePath(file.location), bytes: file.length,
                lastUseMilliseconds: file.lastUse)
        }
        dryRun = isDryRun
        purgedBytes = report.purgedBytes
        purged = report.purged.map(record)
        changed = report.changed.map(record)
    }
}
