internal import PrefetchCaching
internal import PrefetchFileSystem
internal import StorageInventory
internal import SystemPackage

/// The files of an inventory as text or as JSON.
struct InventoryOutput {
    let inventory: FileInventory
    let output: Output
    let totals: InventoryTotals

    /// Largest first; files of equal size are grouped by folder.
    private var files: LazyMapCollection<[Int], InventoryFile> {
        let files = inventory.files
        var order = Array(files.indices)
        // Sort indices: a copy of the files would take too much memory.
        order.sort {
            let (left, right) = (files[$0], files[$1])
            if left.allocated != right.allocated { return left.allocated > right.allocated }
            if left.length != right.length { return left.length > right.length }
            return (left.folder, $0) < (right.folder, $1)
        }
        return order.lazy.map { files[$0] }
    }

    /// Prints the sums by area and kind, and the totals for the device.
    func printSums() throws {
        guard totals.files > 0 else { return try output.print("no files") }
        var table = TextTable([.left, .left, .right, .right, .right, .right])
        table.add(["AREA", "KIND", "FILES", "LENGTH", "ON DISK", "BACKED UP"])
        for group in totals.groups {
            table.add([
                group.area.manifestName, group.kind.rawValue, "\(group.files)", Size.text(group.length),
                Size.text(group.allocated), group.backedUp == 0 ? "-" : Size.text(group.backedUp),
            ])
        }
        try output.print(table.lines + [""] + device)
    }

    private var device: [String] {
        let all = Size.exactText(totals.allocated)
        let (backup, wanted) = (totals.backupLength, totals.intendedBackupLength)
        return TextTable([
            "Documents & Data": Size.exactText(totals.documentsAndData),
            "Caches and tmp": "\(Size.exactText(totals.cachesAndTemporary)), in the total only",
            "Total":
                "\(all) in \(Count.text(totals.files, "file")) and \(Count.text(totals.folders, "folder"))",
            "Backup": Size.exactText(backup)
                + (wanted == backup ? "" : "; wanted: \(Size.exactText(wanted))"),
            "Disappeared during the scan": inventory.vanished > 0 ? "\(inventory.vanished)" : nil,
        ]).lines
    }

    func printFiles() throws {
        let files = files
        guard !files.isEmpty else { return try output.print("no files") }
        let header = ["AREA", "KIND", "LENGTH", "ON DISK", "BACKUP", "SINCE", "SOURCE", "KEY", "PATH"]
        // Created twice: stored rows would take more memory than the inventory.
        let rows = files.lazy.map(row(of:))
        var table = TextTable([.left, .left, .right, .right, .left, .left, .left, .left, .left])
        table.measure(header)
        for row in rows { table.measure(row) }
        try output.print(table.line(of: header))
        for row in rows { try output.print(table.line(of: row)) }
    }

    private func row(of file: InventoryFile) -> [String] {
        [
            file.area.manifestName, file.kind.rawValue, Size.text(file.length), Size.text(file.allocated),
            Self.backup(of: file), Timestamp.text(milliseconds: file.since),
            (file.facts?.source ?? "").orNone, file.facts?.key ?? "-", inventory.path(of: file).displayText,
        ]
    }

    /// The actual backup state, and the intended one if it differs.
    private static func backup(of file: InventoryFile) -> String {
        switch (file.isBackedUp, file.isBackupIntended) {
        case (true, true): "yes"
        case (false, false): "no"
        case (true, false): "yes, unwanted"
        case (false, true): "no, but wanted"
        }
    }

    /// Prints one object, optionally with the files, which are streamed.
    func printJSON(withFiles: Bool) throws {
        let groups: [JSONObject] = totals.groups.map {
            [
                "area": $0.area.manifestName, "kind": $0.kind.rawValue, "files": $0.files, "bytes": $0.length,
                "allocatedBytes": $0.allocated, "backedUpBytes": $0.backedUp,
            ]
        }
        let sums: JSONObject = [
            "files": totals.files, "folders": totals.folders, "bytes": totals.length,
            "allocatedBytes": totals.allocated, "folderAllocatedBytes": totals.folderAllocation,
            "documentsAndDataBytes": totals.documentsAndData,
            "cachesAndTemporaryBytes": totals.cachesAndTemporary,
        ]
        let backup: JSONObject = [
            "projectedBytes": totals.backupLength, "wantedBytes": totals.intendedBackupLength,
            "excludedBytes": totals.excludedLength,
        ]
        let object: JSONObject = [
            "groups": groups, "totals": sums, "backup": backup, "vanished": inventory.vanished,
            "problems": inventory.problems.map(\.json),
        ]
        guard withFiles else { return try output.print(json: object) }
        try output.print(json: files.lazy.map { $0.json(in: inventory) }, as: "files", behind: object)
    }
}

extension InventoryFile {
    func json(in inventory: FileInventory) -> JSONObject {
        [
            "path": inventory.path(of: self).json, "area": area.manifestName, "kind": kind.rawValue,
            "bytes": length, "allocatedBytes": allocated,
            // Present if the bytes were already counted for another hard link to the file.
            "countedElsewhere": isCountedElsewhere ? true : nil, "modifiedAtMilliseconds": modified,
            "visible": isVisible, "purgeable": isPurgeable,
            "backup": [
                "wanted": isBackupIntended, "actual": isBackedUp, "excludedBy": exclusions.names,
            ] as JSONObject,
            // Why the file is there, if known.
            "key": facts?.key, "source": facts?.source,
            "intent": facts?.isUserRequested.map { ($0 ? Intent.userRequested : .opportunistic).name },
            "contentBytes": facts?.contentBytes, "sinceMilliseconds": facts?.since,
        ]
    }
}

extension Output {
    func print(_ rules: [RuleInfo]) throws {
        guard isJSON else {
            return try print(
                rules.flatMap { rule in
                    [
                        "\(rule.name) (\(rule.severity.rawValue))", "    \(rule.explanation)",
                        "    \(rule.basis). \(rule.fix)",
                    ]
                })
        }
        let records: [JSONObject] = rules.map {
            [
                "name": $0.name, "severity": $0.severity.rawValue, "explanation": $0.explanation,
                "guideline": $0.guideline, "statements": $0.statements.map(\.id), "fix": $0.fix,
            ]
        }
        try print(json: records, as: "rules")
    }

    /// Prints the findings of a check, and warns of what it could not inspect.
    func print(_ findings: [Finding], problems: [FileInventory.Problem], of inventory: FileInventory)
        throws
    {
        let files = inventory.files.count
        try report(
            ["files": files, "findings": findings.map(\.json), "problems": problems.map(\.json)],
            findings.isEmpty
                ? ["nothing wrong with \(Count.text(files, "file"))"] : findings.lines,
            isConfirmation: findings.isEmpty)
        problems.warn()
    }
}

extension RuleInfo {
    /// `G2, B4 (iOS Data Storage Guidelines, …)`
    fileprivate var basis: String {
        statements.isEmpty
            ? guideline : "\(statements.map(\.id).joined(separator: ", ")) (\(guideline))"
    }
}

extension [Finding] {
    /// What was found, what is to be done, a line for each rule, and how much it is.
    var lines: [String] {
        var rules: [RuleInfo] = []
        for finding in self where !rules.contains(finding.rule) { rules.append(finding.rule) }
        let sums = Severity.allCases.compactMap { severity -> String? in
            let count = count { $0.rule.severity == severity }
            return count == 0 ? nil : "\(count) \(severity.rawValue)\(count == 1 ? "" : "s")"
        }
        return map(\.line) + [""] + rules.map { "\($0.name): \($0.fix)" } + [
            "", "found: " + sums.joined(separator: ", "),
        ]
    }
}

extension Finding {
    var line: String {
        let extent = files > 1 ? " (\(files) files, \(Size.text(length)))" : ""
        return "\(rule.severity.rawValue): \(path.displayText): \(message)\(extent) [\(rule.name)]"
    }

    var json: JSONObject {
        [
            "rule": rule.name, "severity": rule.severity.rawValue, "path": path.json, "message": message,
            "files": files, "bytes": length, "fix": rule.fix, "guideline": rule.guideline,
            "statements": rule.statements.map(\.id),
        ]
    }
}

extension FileInventory.Problem {
    var json: JSONObject { ["path": path.json, "reason": reason] }
}

extension [FileInventory.Problem] {
    /// Reports on standard error what could not be inspected.
    func warn() {
        for problem in self {
            StandardStreams.writeError("cachectl: warning: \(problem.path.displayText): \(problem.reason)")
        }
    }
}
