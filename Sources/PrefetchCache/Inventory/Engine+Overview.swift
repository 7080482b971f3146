internal import FileSystem
internal import GRDB
internal import ItemFormat
internal import Logging
internal import StorageAreas
internal import SystemPackage

extension Engine {
    /// The space that the items of each source take, ordered by charged bytes, largest first.
    func sources() throws(CacheError) -> [SourceUsage] {
        try catalog.reading { database in
            try Row.fetchAll(
                database,
                sql: """
                    SELECT source, COUNT(*), SUM(contentLength), SUM(storedLength), SUM(chargedLength) AS charged
                    FROM item WHERE +kind = 0 GROUP BY source ORDER BY charged DESC, source
                    """
            ).map { row in
                SourceUsage(
                    source: try row.value(0), items: try row.value(1), contentBytes: try row.value(2),
                    storedBytes: try row.value(3),
                    chargedBytes: try row.value(4))
            }
        }
    }

    func partials() throws(CacheError) -> [KeptPartial] {
        try catalog.reading { database in
            try Row.fetchAll(
                database,
                sql: CachedItem.select
                    + " WHERE kind = \(CatalogRow.Kind.partial.rawValue) ORDER BY priority, lastUse"
            ).compactMap(KeptPartial.init)
        }
    }

    /// The promoted files in the order of opening, which is not that of the ledger.
    func promotedFiles() throws(CacheError) -> [PromotedFile] {
        var files: [PromotedFile] = []
        try ledger.forEachCommitted { entry in
            let opened = destinations.opened(entry, isFirstOpen: false)
            files.append(
                PromotedFile(
                    key: entry.key, path: opened.path, location: opened.location, backup: entry.backup,
                    contentLength: entry.contentLength, openedAt: entry.openedAt,
                    presentLength: presentLength(entry)))
        }
        files.sort { $0.openedAt < $1.openedAt }
        return files
    }

    /// The present length of a promoted file. An overview must not fail because of one file.
    private func presentLength(_ entry: LedgerEntry) -> Int64? {
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

extension KeptPartial {
    /// - Returns: `nil` for a row that this code could not have written.
    fileprivate init?(_ row: Row) {
        // The columns of a partial mean the same as those of an item.
        guard let row = CachedItem(row) else { return nil }
        self.init(
            key: row.key, source: row.source, destination: row.destination, contentLength: row.contentLength,
            storedLength: row.storedLength, chargedLength: row.chargedLength, keptAt: row.storedAt,
            expiresAt: row.expiresAt ?? .max)
    }
}
