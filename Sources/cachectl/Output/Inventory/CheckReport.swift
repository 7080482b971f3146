internal import FileSystem
internal import PrefetchCache
internal import StorageInventory

/// The findings of a check.
struct CheckReport {
    private let findings: [Finding]
    private let problems: [StorageInventory.Problem]
    private let files: Int

    init(_ inventory: StorageInventory, _ options: Checkup.Options, _ fileSystem: any FileSystem) {
        let checked = Checkup.run(on: inventory, options, in: fileSystem)
        findings = checked.findings
        problems = inventory.problems + checked.problems
        files = inventory.files.count
    }

    /// - Returns: ``ExitCode/found`` when there are findings.
    func print(to output: Output) throws -> ExitCode {
        if output.isJSON {
            try output.print(json: Record(findings, problems, files))
        } else {
            try printText(to: output)
        }
        for problem in problems {
            StandardStreams.writeError("cachectl: warning: \(problem.path.displayText): \(problem.reason)")
        }
        return findings.isEmpty ? .success : .found
    }

    private func printText(to output: Output) throws(FileSystemError) {
        for finding in findings {
            let path = finding.path.displayText.escapedForTerminal
            try output.print(
                "\(finding.rule.severity.rawValue): \(path): \(finding.message.escapedForTerminal)"
                    + "\(Self.extent(finding)) [\(finding.rule.name)]")
        }
        let fixes = findings.reduce(into: [RuleInfo]()) { rules, finding in
            if !rules.contains(finding.rule) { rules.append(finding.rule) }
        }
        if !fixes.isEmpty { try output.print("") }
        for rule in fixes { try output.print("\(rule.name): \(rule.fix)") }
        if findings.isEmpty { try output.confirm("nothing wrong with \(files) files") }
    }

    private static func extent(_ finding: Finding) -> String {
        finding.files > 1 ? " (\(finding.files) files, \(Size.text(finding.length)))" : ""
    }

    /// Names and meanings do not change within one `schemaVersion`.
    private struct Record: Encodable {
        struct FindingRecord: Encodable {
            let rule: String
            let severity: String
            let path: PathRecord
            let message: String
            let files: Int
            let bytes: Int64
            let fix: String
            let guideline: String
        }

        let files: Int
        let findings: [FindingRecord]
        let problems: [InventoryRecord.Problem]

        init(_ findings: [Finding], _ problems: [StorageInventory.Problem], _ files: Int) {
            self.files = files
            self.findings = findings.map {
                FindingRecord(
                    rule: $0.rule.name, severity: $0.rule.severity.rawValue, path: PathRecord($0.path),
                    message: $0.message, files: $0.files, bytes: $0.length, fix: $0.rule.fix,
                    guideline: $0.rule.guideline)
            }
            self.problems = problems.map(InventoryRecord.Problem.init)
        }
    }
}

/// The rules of a check.
enum RuleList {
    private struct Record: Encodable {
        let name: String
        let severity: String
        let explanation: String
        let guideline: String
        let fix: String
    }

    static func print(to output: Output) throws {
        let rules = StorageRules.infos
        if output.isJSON {
            return try output.print(
                json: rules.lazy.map {
                    Record(
                        name: $0.name, severity: $0.severity.rawValue, explanation: $0.explanation,
                        guideline: $0.guideline, fix: $0.fix)
                }, as: "rules")
        }
        for rule in rules {
            try output.print("\(rule.name) (\(rule.severity.rawValue))")
            try output.print("    \(rule.explanation)")
            try output.print("    \(rule.guideline). \(rule.fix)")
        }
    }
}
