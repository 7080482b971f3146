internal import PrefetchCaching
internal import PrefetchFileSystem
internal import StorageInventory
internal import SystemPackage

/// What `inventory --check --fix` does about its findings, and `--undo` takes back.
struct Fixing {
    /// The journal to create.
    let journal: FilePath
    let isDryRun: Bool
    let fileSystem: LiveFileSystem

    /// What was done about a finding, and what was not.
    typealias Treatment = (finding: Finding, outcomes: [Fixer.Outcome])

    func carryOut(_ findings: [Finding], of inventory: FileInventory) throws -> [Treatment] {
        try inventory.place.requireElsewhere(journal)
        let discarded = FixJournal.discarded(for: journal)
        if isDryRun {
            let fixer = Fixer(inventory, discardingTo: discarded, isDryRun: true, in: fileSystem) { _ in }
            return findings.map { ($0, fixer.fix($0)) }
        }
        var file = try FixJournal(creating: journal, in: fileSystem)
        defer { file.close() }
        let fixer = Fixer(inventory, discardingTo: discarded, isDryRun: false, in: fileSystem) {
            act throws(FileSystemError) in try file.append(act)
        }
        let treatments = findings.map { ($0, fixer.fix($0)) }
        // There is nothing to undo.
        if file.isEmpty { try fileSystem.unlink(journal, in: .workingDirectory) }
        return treatments
    }

    /// Undoes what a journal says, the last change first. If nothing is left to undo, the journal goes as well.
    ///
    /// - Returns: Whether everything is as it was.
    static func undo(_ journal: FilePath, in fileSystem: LiveFileSystem, to output: Output) throws -> Bool {
        var kept: [(FixAct, String)] = []
        let acts = try FixJournal.acts(in: journal)
        for act in acts.reversed() {
            do throws(FileSystemError) {
                if let reason = try act.undo(in: fileSystem) { kept.append((act, reason)) }
            } catch {
                kept.append((act, "\(error)"))
            }
        }
        if kept.isEmpty { try fileSystem.unlink(journal, in: .workingDirectory) }
        try output.report(
            [
                "undone": acts.count - kept.count,
                "kept": kept.map { act, reason in act.json.adding(["reason": reason]) },
            ],
            kept.map { act, reason in "\(act.path.displayText): \(reason)" }
                + ["undone: \(acts.count - kept.count) of \(Count.text(acts.count, "change"))"]
                + (kept.isEmpty ? [] : ["if the rest is to stay as it is, delete \(journal.displayText)"]))
        return kept.isEmpty
    }
}

extension Output {
    /// Prints what a fix did about each finding, and the findings that it could do nothing about.
    func print(
        _ treatments: [Fixing.Treatment], by fixing: Fixing, of inventory: FileInventory,
        problems: [FileInventory.Problem]
    ) throws {
        var lines: [String] = []
        var fixes: [JSONObject] = []
        var skipped: [JSONObject] = []
        for (finding, outcomes) in treatments where !outcomes.isEmpty {
            lines.append(finding.line)
            for outcome in outcomes {
                switch outcome {
                case .done(let act):
                    lines.append("  " + act.line(isDone: !fixing.isDryRun, in: inventory))
                    fixes.append(act.json.adding(["rule": finding.rule.name]))
                case .skipped(let path, let reason):
                    lines.append("  left \(inventory.displayed(path).displayText): \(reason)")
                    skipped.append(["path": path.json, "reason": reason, "rule": finding.rule.name])
                }
            }
        }
        let byHand = treatments.map(\.finding).filter { $0.remedy == nil }
        if !byHand.isEmpty { lines += ["", "by hand:"] + byHand.lines }
        let changes = fixes.isEmpty ? "nothing to change" : "changes: \(fixes.count)"
        let record = fixing.isDryRun || fixes.isEmpty ? "" : ", recorded in \(fixing.journal.displayText)"
        lines += ["", "\(changes)\(record); left: \(skipped.count); by hand: \(byHand.count)"]
        try report(
            [
                "dryRun": fixing.isDryRun, "fixes": fixes, "skipped": skipped,
                "findings": byHand.map(\.json), "problems": problems.map(\.json),
            ], treatments.isEmpty ? ["nothing to fix"] : lines)
        problems.warn()
    }
}
