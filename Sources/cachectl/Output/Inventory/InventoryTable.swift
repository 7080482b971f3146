internal import FileSystem
internal import PrefetchCache
internal import StorageInventory

/// An inventory as text.
struct InventoryTable {
    private let inventory: StorageInventory
    private let selection: InventorySelection
    private let totals: InventoryTotals

    init(_ inventory: StorageInventory, _ selection: InventorySelection) {
        self.inventory = inventory
        self.selection = selection
        totals = InventoryTotals(of: inventory, only: selection.contains)
    }

    /// Prints the sums by area and kind, and the totals for the device.
    func printSums(isFiltered: Bool, to output: Output) throws {
        guard totals.files > 0 else {
            return try output.print(isFiltered ? "no such files" : "no files")
        }
        var table = TextTable([.left, .left, .right, .right, .right, .right])
        table.add(["AREA", "KIND", "FILES", "LENGTH", "ON DISK", "BACKED UP"])
        for group in totals.groups {
            table.add([
                group.area.choiceName, group.kind.rawValue, "\(group.files)", Size.text(group.length),
                Size.text(group.allocated), group.backedUp == 0 ? "-" : Size.text(group.backedUp),
            ])
        }
        for line in table.lines { try output.print(line) }
        try output.print("")
        for line in isFiltered ? selectedLines : lines { try output.print(line) }
    }

    private var selectedLines: [String] {
        let allocated = totals.groups.reduce(0) { $0 + $1.allocated }
        return ["\(totals.files) files, \(Size.exactText(totals.length)), \(Size.text(allocated)) on disk"]
    }

    private var lines: [String] {
        var table = TextTable([.left, .left])
        table.add(["Documents & Data", Size.exactText(totals.documentsAndData)])
        table.add(["Caches and tmp", "\(Size.exactText(totals.cachesAndTemporary)), in the total only"])
        table.add([
            "Total",
            "\(Size.exactText(totals.allocated)) in \(totals.files) files and \(totals.folders) folders",
        ])
        table.add(["Backup", backup])
        if inventory.vanished > 0 { table.add(["Disappeared meanwhile", "\(inventory.vanished)"]) }
        return table.lines
    }

    private var backup: String {
        let text = Size.exactText(totals.backupLength)
        let wanted = totals.wantedBackupLength
        return wanted == totals.backupLength ? text : "\(text); wanted: \(Size.exactText(wanted))"
    }

    /// Prints one line per file.
    func printFiles(to output: Output) throws {
        let files = selection.sortedFiles(of: inventory)
        guard !files.isEmpty else { return try output.print("no such files") }
        let header = ["AREA", "KIND", "LENGTH", "ON DISK", "BACKUP", "SINCE", "SOURCE", "KEY", "PATH"]
        // Created twice: if kept, the rows would take more memory than the inventory.
        let rows = files.lazy.map(row(of:))
        var layout = TableLayout([.left, .left, .right, .right, .left, .left, .left, .left, .left])
        layout.measure(header)
        for row in rows { layout.measure(row) }
        try output.print(layout.line(of: header))
        for row in rows { try output.print(layout.line(of: row)) }
    }

    private func row(of file: InventoryFile) -> [String] {
        [
            file.area.choiceName, file.kind.rawValue, Size.text(file.length), Size.text(file.allocated),
            Self.backup(of: file), Timestamp.text(milliseconds: file.since),
            text(file.facts?.source), text(file.facts?.key),
            inventory.path(of: file).displayText.escapedForTerminal,
        ]
    }

    private func text(_ string: String?) -> String {
        guard let string, !string.isEmpty else { return "-" }
        return string.escapedForTerminal
    }

    /// The actual state, and the wanted one if it differs.
    private static func backup(of file: InventoryFile) -> String {
        switch (file.isBackedUp, file.isBackupWanted) {
        case (true, true): "yes"
        case (false, false): "no"
        case (true, false): "yes, unwanted"
        case (false, true): "no, but wanted"
        }
    }
}
