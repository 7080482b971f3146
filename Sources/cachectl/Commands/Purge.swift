internal import ArgumentParser
internal import PrefetchCaching

struct Purge: CacheCommand {
    static let configuration = CommandConfiguration(
        commandName: "purge",
        abstract: "Removes excluded files that have long been unused.",
        usage: "cachectl purge --excluded --older-than <duration> [--dry-run]",
        discussion: """
            Files that are excluded from backups can be downloaded again, and stay on the device until their app \
            removes them. A file counts as used when it is opened through the cache, read or written to: its last \
            use is the latest of the times when it was opened, modified and accessed. Only files that are still \
            byte for byte as they were opened, that no other file has replaced and no other key shares, are purged. Their keys can then be \
            stored and opened again.

            EXAMPLES:
              # List excluded files unused for 30 days
              cachectl purge --excluded --older-than 30d --dry-run --app org.example.app
            """)

    @Flag(help: "Required: only files excluded from backup can be purged.")
    var excluded = false

    @Option(
        name: .customLong("older-than"), parsing: .unconditional,
        help: ArgumentHelp(
            "Required: only files unused this long: 45s, 30m, 12h, 7d or 2w.", valueName: "duration"),
        transform: Lifetime.init(_:))
    var age: Lifetime

    @Flag(help: "Only list what would be purged.")
    var dryRun = false

    @OptionGroup var shared: SharedOptions

    var isLooking: Bool { dryRun }

    func validate() throws {
        guard excluded else {
            throw ValidationError("give --excluded: only files excluded from backup can be purged")
        }
    }

    func perform(on cache: PrefetchCache, at place: Place, to output: Output) async throws {
        let report = try await cache.purgeExcluded(
            unusedSinceMilliseconds: age.start(before: Timestamp.now), dryRun: dryRun)
        try output.report(json(report, in: place), lines(report, in: place), isConfirmation: !dryRun)
        if let failure = report.failures.first {
            let count = report.failures.count
            throw CommandFailure(
                ExitCode(failure.error),
                "'\(failure.key)'\(count > 1 ? " and \(count - 1) more" : ""): \(failure.error); the others were processed"
            )
        }
    }

    private func lines(_ report: PurgeReport, in place: Place) -> [String] {
        var table = TextTable([.left, .right, .left, .left])
        for (outcome, files) in [
            (dryRun ? "would purge" : "purged", report.purged),
            ("kept, changed or replaced", report.changed),
            ("kept, shared", report.shared),
        ] {
            for file in files {
                table.add([
                    outcome, Size.text(file.fileBytes), Timestamp.text(milliseconds: file.lastUsedAt),
                    place.relativePath(file.location),
                ])
            }
        }
        let sum = "\(Count.text(report.purged.count, "file")), \(Size.text(report.purgedBytes))"
        return table.lines + [
            report.purged.isEmpty ? "nothing to purge" : "\(dryRun ? "would free" : "freed") \(sum)"
        ]
    }

    private func json(_ report: PurgeReport, in place: Place) -> JSONObject {
        func json(_ file: PurgeReport.File) -> JSONObject {
            [
                "key": file.key.string, "path": place.relativePath(file.location), "bytes": file.fileBytes,
                "lastUseMilliseconds": file.lastUsedAt,
            ]
        }
        let failures: [JSONObject] = report.failures.map {
            [
                "key": $0.key.string, "path": place.relativePath($0.location), "reason": $0.error.description,
            ]
        }
        return [
            "dryRun": dryRun, "purgedBytes": report.purgedBytes, "purged": report.purged.map(json),
            "changed": report.changed.map(json), "shared": report.shared.map(json), "failures": failures,
        ]
    }
}
