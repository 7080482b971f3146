internal import FileSystem
internal import PrefetchCache
internal import StorageInventory
internal import SystemPackage

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
            let json = findings.map(\.json)
            try output.print(json: ["files": files, "findings": json, "problems": problems.map(\.json)])
        } else {
            try printText(to: output)
        }
        problems.warn()
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
}

extension Finding {
    fileprivate var json: JSONObject {
        [
            "rule": rule.name, "severity": rule.severity.rawValue, "path": path.json, "message": message,
            "files": files, "bytes": length, "fix": rule.fix, "guideline": rule.guideline,
        ]
    }
}

extension StorageInventory.Problem {
    var json: JSONObject { ["path": path.json, "reason": reason] }
}

extension [StorageInventory.Problem] {
    /// Reports what could not be inspected on standard error.
    func warn() {
        for problem in self {
            StandardStreams.writeError("cachectl: warning: \(problem.path.displayText): \(problem.reason)")
        }
    }
}

extension StorageRules {
    static func print(to output: Output) throws {
        if output.isJSON { return try output.print(json: infos.lazy.map(\.json), as: "rules") }
        for rule in infos {
            try output.print("\(rule.name) (\(rule.severity.rawValue))")
            try output.print("    \(rule.explanation)")
            try output.print("    \(rule.guideline). \(rule.fix)")
        }
    }
}

extension RuleInfo {
    fileprivate var json: JSONObject {
        [
            "name": name, "severity": severity.rawValue, "explanation": explanation,
            "guideline": guideline, "fix": fix,
        ]
    }
}
