internal import ArgumentParser
internal import PrefetchCaching

struct Repair: CacheCommand {
    static let configuration = CommandConfiguration(
        commandName: "repair",
        abstract: "Repairs damage left by crashes and other programs.",
        discussion: """
            Finishes or rolls back interrupted promotions; removes abandoned staged files and partials, emptied items \
            and quarantined ones; corrects the catalog to match the items; and restores lost marks on files that are \
            excluded from backups, also in a container that was copied. Files of others are not touched, nor opened \
            ones that their user has changed or replaced: those that backups keep for that are listed. The content of \
            items is not read: use 'cachectl verify' for that.

            EXAMPLES:
              # Show what would be done
              cachectl repair --dry-run --container ./AppData
              # Repair the cache
              cachectl repair --container ./AppData
            """)

    @Flag(help: "Only show what would be done.")
    var dryRun = false

    @Flag(help: "Leave quarantined items, to look into what happened to them.")
    var keepQuarantined = false

    @OptionGroup var shared: SharedOptions

    // The command performs recovery itself, to report each step.
    var recoversOnOpening: Bool { false }
    var isLooking: Bool { dryRun }

    func perform(on cache: PrefetchCache, at place: Place, to output: Output) async throws {
        let report = try await cache.repair(dryRun: dryRun, keepingQuarantined: keepQuarantined)
        try output.report(
            json(report, in: place), lines(report, in: place),
            isConfirmation: !dryRun || report.steps.isEmpty)
        if let failure = report.failures.first {
            let count = report.failures.count
            let others = count > 1 ? " (and \(count - 1) more)" : ""
            throw CommandFailure(
                ExitCode(failure.error),
                "\(place.relativePath(failure.location)): \(failure.error)\(others); the rest was processed")
        }
    }

    private func lines(_ report: RepairReport, in place: Place) -> [String] {
        if report.steps.isEmpty, report.failures.isEmpty, report.skipped.isEmpty {
            return ["nothing to repair"]
        }
        var table = TextTable([.left, .left])
        for step in report.steps {
            let remarks = [step.key.map { "'\($0)'" }, step.remark].compactMap(\.self)
            let remark = remarks.isEmpty ? "" : " (\(remarks.joined(separator: ", ")))"
            table.add([step.action.text(isDryRun: dryRun), place.relativePath(step.location) + remark])
        }
        for file in report.skipped {
            table.add([
                "left without mark", "\(place.relativePath(file.location)) ('\(file.key)', \(file.reason))",
            ])
        }
        return table.lines
    }

    private func json(_ report: RepairReport, in place: Place) -> JSONObject {
        let steps: [JSONObject] = report.steps.map {
            [
                "action": $0.action.rawValue, "path": place.relativePath($0.location), "key": $0.key?.string,
                "remark": $0.remark,
            ]
        }
        let failures: [JSONObject] = report.failures.map {
            ["path": place.relativePath($0.location), "error": $0.error.description]
        }
        let skipped: [JSONObject] = report.skipped.map {
            ["path": place.relativePath($0.location), "key": $0.key.string, "reason": $0.reason]
        }
        return ["dryRun": dryRun, "steps": steps, "skipped": skipped, "failures": failures]
    }
}

extension RepairReport.Action {
    func text(isDryRun: Bool) -> String {
        let (infinitive, past, object) =
            switch self {
            case .promotionResolved: ("recover", "recovered", "promotion")
            case .stagedFileRemoved: ("remove", "removed", "staged file")
            case .partialRemoved: ("remove", "removed", "partial")
            case .itemQuarantined: ("quarantine", "quarantined", "damaged item")
            case .purgedItemRemoved: ("remove", "removed", "emptied item")
            case .rowAdded: ("add", "added", "to catalog")
            case .rowRemoved: ("remove", "removed", "from catalog")
            case .rowCorrected: ("correct", "corrected", "in catalog")
            case .catalogRebuilt: ("rebuild", "rebuilt", "catalog")
            case .statisticsCorrected: ("correct", "corrected", "statistics")
            case .quarantinedItemRemoved: ("remove", "removed", "quarantined item")
            case .markRestored: ("restore", "restored", "backup mark")
            }
        return "\(isDryRun ? "would \(infinitive)" : past) \(object)"
    }
}
