internal import PrefetchCaching
internal import PrefetchFileSystem
internal import PrefetchStorageInventory
internal import SystemPackage

extension StorageInventory {
    /// Runs a check and prints its findings.
    ///
    /// - Returns: ``ExitCode/found`` if there are findings.
    func check(_ options: Checkup.Options, _ fileSystem: any FileSystem, to output: Output) throws -> ExitCode
    {
        let checked = Checkup.run(on: self, options, in: fileSystem)
        let problems = problems + checked.problems
        if output.isJSON {
            let findings = checked.findings.map(\.json)
            try output.print(
                json: ["files": files.count, "findings": findings, "problems": problems.map(\.json)])
        } else {
            try print(checked.findings, to: output)
        }
        problems.warn()
        return checked.findings.isEmpty ? .success : .found
    }

    private func print(_ findings: [Finding], to output: Output) throws(FileSystemError) {
        for finding in findings {
            let path = finding.path.displayText.escapedForTerminal
            let extent = finding.files > 1 ? " (\(finding.files) files, \(Size.text(finding.length)))" : ""
            try output.print(
                "\(finding.rule.severity.rawValue): \(path): \(finding.message.escapedForTerminal)"
                    + "\(extent) [\(finding.rule.name)]")
        }
        var rules: [RuleInfo] = []
        for finding in findings where !rules.contains(finding.rule) { rules.append(finding.rule) }
        if !rules.isEmpty { try output.print("") }
        for rule in rules { try output.print("\(rule.name): \(rule.fix)") }
        if findings.isEmpty { try output.confirm("nothing wrong with \(files.count) files") }
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
    /// Reports on standard error what could not be inspected.
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
