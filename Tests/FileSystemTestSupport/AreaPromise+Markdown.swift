package import PrefetchStorageAreas

extension AreaPromise {
    /// The promises of all areas as the documentation has to quote them: a header, a rule and one line per area, each
    /// ending in a newline.
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
        let backup =
            switch backup {
            case .backedUp: "yes"
            case .notBackedUp: "no"
            case .uploaded: "uploaded"
            }
        let purge =
            switch purge {
            case .never: "never"
            case .whenSpaceIsLow: "when space is low, while the app is not running; idle apps first"
            case .periodically: "periodically, while the app is not running"
            }
        let counted =
            switch isCountedInDocumentsAndData {
            case true: "yes"
            case false: "no, in the total only"
            case nil: "–"
            }
        return [isVisibleToUser ? "yes" : "no", backup, purge, counted]
    }
}
