extension AreaPromise {
    /// The promises of all areas as a Markdown table: a header, a rule and one line per area, each
    /// ending in a newline. The documentation quotes it, so that it cannot drift from the values.
    package static func markdownTable() -> String {
        let header = [
            "Area", "Seen by the user", "Backed up", "Purged by the system", "In “Documents & Data”",
        ]
        let rule = header.map { _ in "---" }
        let rows = Area.allCases.map { [$0.title] + $0.promise.cells }
        return ([header, rule] + rows)
            .map { "| \($0.joined(separator: " | ")) |\n" }
            .joined()
    }

    private var cells: [String] {
        [isVisibleToUser ? "yes" : "no", backup.text, purge.text, countedText]
    }

    private var countedText: String {
        switch isCountedInDocumentsAndData {
        case true: "yes"
        case false: "no, in the total only"
        case nil: "–"
        }
    }
}

extension AreaPromise.Backup {
    fileprivate var text: String {
        switch self {
        case .backedUp: "yes"
        case .notBackedUp: "no"
        case .uploaded: "uploaded"
        }
    }
}

extension AreaPromise.Purge {
    fileprivate var text: String {
        switch self {
        case .never: "never"
        case .whenSpaceIsLow: "when space is low, while the app is not running; idle apps first"
        case .periodically: "periodically, while the app is not running"
        }
    }
}
