internal import StorageAreas

extension FolderPath? {
    /// The folder as the catalog and the ledger keep it: empty for none.
    init(stored text: String) throws(FolderPathError) {
        self = text.isEmpty ? nil : try FolderPath(text)
    }
}
