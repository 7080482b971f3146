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

    /// - Returns: What was done and what was not.
    func carryOut(_ findings: [Finding], of inventory: FileInventory) throws -> [Fixer.Outcome] {
        let discarded = FixJournal.discarded(for: journal)
        guard !inventory.place.roots.contains(where: { discarded.starts(with: $0.0) }) else {
            throw CommandFailure(
                .usage, "\(journal.displayText) is among the app's files; name a file elsewhere")
        }
        if isDryRun {
            let fixer = Fixer(inventory, discardingTo: discarded, isDryRun: true, in: fileSystem) { _ in }
            return findings.flatMap { fixer.fix($0) }
        }
        var file = try FixJournal(creating: journal, in: fileSystem)
        defer { file.close() }
        let fixer = Fixer(inventory, discardingTo: discarded, isDryRun: false, in: fileSystem) {
            act throws(FileSystemError) in try file.append(act)
        }
        let outcomes = findings.flatMap { fixer.fix($0) }
        // There is nothing to undo.
        if file.isEmpty { try fileSystem.unlink(journal, in: .workingDirectory) }
        return outcomes
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
                + ["undone: \(acts.count - kept.count) of \(acts.count) changes"])
        return kept.isEmpty
    }
}

extension Output {
    /// Prints what a fix did, and the findings that it did nothing about.
    func print(
        _ outcomes: [Fixer.Outcome], isDryRun: Bool, left findings: [Finding],
        problems: [FileInventory.Problem]
    ) throws {
        var acts: [FixAct] = []
        var skipped: [(path: FilePath, reason: String)] = []
        for outcome in outcomes {
            switch outcome {
            case .done(let act): acts.append(act)
            case .skipped(let path, let reason): skipped.append((path, reason))
            }
        }
        var lines = acts.map { $0.line(isDone: !isDryRun) }
        lines += skipped.map { "left \($0.path.displayText): \($0.reason)" }
        if !findings.isEmpty { lines += ["", "by hand:"] + findings.map(\.line) + [""] + findings.fixes }
        try report(
            [
                "dryRun": isDryRun, "fixes": acts.map(\.json),
                "skipped": skipped.map { ["path": $0.path.json, "reason": $0.reason] as JSONObject },
                "findings": findings.map(\.json), "problems": problems.map(\.json),
            ], lines.isEmpty ? ["nothing to fix"] : lines)
        problems.warn()
    }
}
