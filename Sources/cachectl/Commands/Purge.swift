internal import ArgumentParser
internal import PrefetchCache

/// `cachectl purge`
struct Purge: CacheCommand {
    static let configuration = CommandConfiguration(
        commandName: "purge",
        abstract: "Removes opened files that are excluded from backups and have long been unused.",
        usage: "cachectl purge --excluded --older-than <duration> [--dry-run]",
        discussion: Examples.purge.discussion(
            """
            Files that are excluded from backups can be downloaded again, and stay on the device until their app \
            removes them. A file counts as used when it is opened through the cache, read or written to: its last \
            use is the latest of the times when it was handed over, modified and accessed. Only a file that is \
            byte for byte as it was handed over, and that no other key shares, is purged. Its key can then be stored and opened again.
            """))

    @Flag(help: "Required: only files excluded from backup can be purged.")
    var excluded = false

    @Option(
        name: .customLong("older-than"), parsing: .unconditional,
        help: ArgumentHelp("Only files unused this long: 45s, 30m, 12h, 7d or 2w.", valueName: "duration"),
        transform: { try Lifetime($0) })
    var age: Lifetime

    @Flag(help: "Only list what would be purged.")
    var dryRun = false

    @OptionGroup var shared: SharedOptions

    var settlesAtOpening: Bool { !dryRun }
    var onlyLooks: Bool { dryRun }

    func validate() throws {
        guard excluded else {
            throw ValidationError("give --excluded: only files excluded from backup can be purged")
        }
    }

    func perform(in session: Session) async throws {
        let report = try await session.cache.purgeExcluded(
            unusedSince: age.start(before: Timestamp.now), dryRun: dryRun)
        if session.output.isJSON {
            try session.output.print(json: PurgeRecord(report, isDryRun: dryRun, in: session.place))
        } else {
            try show(report, in: session)
        }
        if let failure = report.failures.first {
            let count = report.failures.count
            throw CommandFailure(
                ExitCode(failure.error),
                "'\(failure.key)'\(count > 1 ? " and \(count - 1) more" : ""): \(failure.error); the others were processed"
            )
        }
    }

    private func show(_ report: PurgeReport, in session: Session) throws {
        var table = TextTable([.left, .right, .left, .left])
        for (file, what) in report.purged.map({ ($0, dryRun ? "would purge" : "purged") })
            + report.changed.map({ ($0, "kept, changed") }) + report.shared.map({ ($0, "kept, shared") })
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

    struct Failure: Encodable {
        let key: String
        let path: String
        let reason: String
    }

    let dryRun: Bool
    let purgedBytes: Int64
    let purged: [File]
    let changed: [File]
    let shared: [File]
    let failures: [Failure]

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
        shared = report.shared.map(record)
        failures = report.failures.map {
            Failure(key: $0.key.string, path: place.relativePath($0.location), reason: $0.error.description)
        }
    }
}
