internal import SystemPackage

extension FilePath {
    /// The files on which SQLite has locks.
    private static let databases: Set<String> = [
        "catalog.sqlite", "record.sqlite", "record.sqlite-shm", "ledger.sqlite",
    ]

    /// Ends the test when this is a database: closing any descriptor of it would release the locks that SQLite has in this
    /// process, so nothing but SQLite may open it.
    func requireNoDatabase() {
        precondition(
            // Not by the path's components, which take long without the optimiser.
            !Self.databases.contains(String(string.split(separator: "/").last ?? "")),
            "\(self) was opened, which only SQLite may do")
    }
}
