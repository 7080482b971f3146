internal import ArgumentParser
internal import PrefetchCache

/// `cachectl repair`
struct Repair: CacheCommand {
    static let configuration = CommandConfiguration(
        commandName: "repair",
        abstract: "Repairs damage left by crashes and other programs, and reports each step.",
        discussion: Examples.repair.discussion(
            """
            Interrupted promotions are settled; abandoned staged files and partials, emptied items, and damaged ones \
            that were set aside are removed; the catalog is corrected to match the items; files that are excluded \
            from backups regain a lost mark. Files that are not the cache's are not touched. The content of items is \
            not read: use 'cachectl verify' for that.
            """))

    @Flag(help: "Only show what would be done.")
    var dryRun = false

    @OptionGroup var shared: SharedOptions

    // The command itself settles the cache, and reports what it did.
    var settlesAtOpening: Bool { false }
    var onlyLooks: Bool { dryRun }

    func perform(in session: Session) async throws {
        let report = try await session.cache.repair(dryRun: dryRun)
        if session.output.isJSON {
            try session.output.print(json: RepairRecord(report, isDryRun: dryRun, in: session.place))
        } else {
            try show(report, in: session)
        }
        if let failure = report.failures.first {
            let count = report.failures.count
            let others = count > 1 ? " (and \(count - 1) more)" : ""
            throw CommandFailure(
                ExitCode(failure.error),
                "\(session.place.relativePath(failure.location)): \(failure.error)\(others); the rest was processed"
            )
        }
    }

    private func show(_ report: RepairReport, in session: Session) throws {
        var table = TextTable([.left, .left])
        for step in report.steps {
            let remarks = [step.key.map { "'\($0)'" }, step.remark].compactMap(\.self)
            let remark = remarks.isEmpty ? "" : " (\(remarks.joined(separator: ", ")))"
            table.add([
                step.action.text(isDryRun: dryRun),
                "\(session.place.relativePath(step.location))\(remark)".escapedForTerminal,
            ])
        }
        for line in table.lines { try session.output.report(line, isDryRun: dryRun) }
        if report.steps.isEmpty, report.failures.isEmpty { try session.output.confirm("nothing to repair") }
    }
}

extension RepairReport.Action {
    /// The verb in the past, the verb as an intention, and the object.
    private var words: (deed: String, wish: String, object: String) {
        switch self {
        case .promotionSettled: ("settled", "settle", "promotion")
        case .stagedFileRemoved: ("removed", "remove", "staged file")
        case .partialRemoved: ("removed", "remove", "partial")
        case .itemSetAside: ("set aside", "set aside", "damaged item")
        case .purgedItemRemoved: ("removed", "remove", "emptied item")
        case .rowAdded: ("added", "add", "to catalog")
        case .rowRemoved: ("removed", "remove", "from catalog")
        case .rowCorrected: ("corrected", "correct", "in catalog")
        case .catalogRemade: ("rebuilt", "rebuild", "catalog")
        case .statisticsCorrected: ("corrected", "correct", "statistics")
        case .quarantinedItemRemoved: ("removed", "remove", "quarantined item")
        case .markRenewed: ("restored", "restore", "backup mark")
        }
    }

    /// The action as text.
    func text(isDryRun: Bool) -> String {
        let (deed, wish, object) = words
        return "\(isDryRun ? "would \(wish)" : deed) \(object)"
    }
}

private struct RepairRecord: Encodable {
    struct Step: Encodable {
        let action: String
        let path: String
        /// Left out when unknown.
        let key: String?
        let remark: String?
    }

    struct Failure: Encodable {
        let path: String
        let error: String
    }

    let dryRun: Bool
    let steps: [Step]
    let failures: [Failure]

    init(_ report: RepairReport, isDryRun: Bool, in place: Place) {
        dryRun = isDryRun
        steps = report.steps.map {
            Step(
                action: $0.action.rawValue, path: place.relativePath($0.location), key: $0.key?.string,
                remark: $0.remark)
        }
        failures = report.failures.map {
            Failure(path: place.relativePath($0.location), error: $0.error.description)
        }
    }
}
