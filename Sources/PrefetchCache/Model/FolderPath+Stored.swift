internal import StorageAreas

extension FolderPath? {
    /// The folder in the form that the catalog and the ledger store: empty for `nil`.
    init(stored text: String) throws(FolderPathError) {
        self = text.isEmpty ? nil : try FolderPath(text)
    }
}
