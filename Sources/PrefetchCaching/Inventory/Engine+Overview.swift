internal import Logging
internal import PrefetchFileSystem
internal import PrefetchItemFormat
internal import PrefetchStorageAreas

extension Engine {
    /// The space that the items of each source take, ordered by charged bytes, largest first.
    func sources() throws(CacheError) -> [SourceUsage] {
        try catalog.reading { try $0.sources() }
    }

    func partials() throws(CacheError) -> [PartialItem] {
        try catalog.reading { try $0.partials() }
    }

    /// The promoted files in the order of opening, which is not that of the ledger.
    func promotedFiles() throws(CacheError) -> [PromotedFile] {
        var files: [PromotedFile] = []
        try ledger.forEachCommitted { entry in
            files.append(destinations.promotedFile(entry, presentBytes: presentBytes(entry)))
        }
        files.sort { $0.openedAt < $1.openedAt }
        return files
    }

    /// The present length of a promoted file. An overview must not fail because of one file.
    private func presentBytes(_ entry: LedgerEntry) -> Int64? {
        do {
            return try destinations.coordinated(.readMetadata, entry) { () throws(CacheError) in
                guard let folder = try destinations.existingFolder(of: entry),
                    let attributes = try files.attributes(of: entry, in: folder),
                    attributes.kind == .regular
                else { return nil }
                return attributes.length
            }
        } catch {
            environment.logger.debug("A file cannot be looked at.", metadata: ["error": "\(error)"])
            return nil
        }
    }
}
