internal import FileSystem
internal import PrefetchCache
internal import StorageInventory

/// The files of an inventory as CSV (RFC 4180): a header, and a line per file, each ending in CR LF.
///
/// Text is escaped as on a terminal, so that each file is one line whatever its name.
struct InventoryCSV {
    static let header = [
        "path", "area", "kind", "bytes", "allocated_bytes", "backup_wanted", "backup_actual", "excluded_by",
        "visible", "purgeable", "since", "key", "source", "intent",
    ]

    private let inventory: StorageInventory
    private let selection: InventorySelection

    init(_ inventory: StorageInventory, _ selection: InventorySelection) {
        self.inventory = inventory
        self.selection = selection
    }

    func print(to output: Output) throws(FileSystemError) {
        try output.print(Self.line(Self.header))
        for file in selection.sortedFiles(of: inventory) {
            let intent = file.facts?.isUserRequested.map {
                $0 ? Intent.userRequested.name : Intent.opportunistic.name
            }
            try output.print(
                Self.line([
                    inventory.path(of: file).displayText, file.area.choiceName, file.kind.rawValue,
                    "\(file.length)", "\(file.allocated)", "\(file.isBackupWanted)", "\(file.isBackedUp)",
                    file.exclusions.names.joined(separator: " "), "\(file.isVisible)", "\(file.isPurgeable)",
                    Timestamp.text(milliseconds: file.since), file.facts?.key ?? "",
                    file.facts?.source ?? "", intent ?? "",
                ]))
        }
    }

    /// One record. ``Output`` adds the line feed.
    static func line(_ fields: [String]) -> String {
        fields.map(field).joined(separator: ",") + "\r"
    }

    private static func field(_ text: String) -> String {
        let text = text.escapedForTerminal
        guard text.contains(where: { $0 == "," || $0 == "\"" }) else { return text }
        return "\"" + text.split(separator: "\"", omittingEmptySubsequences: false).joined(separator: "\"\"")
            + "\""
    }
}
