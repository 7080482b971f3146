internal import FileSystem
internal import ItemFormat
internal import StorageAreas
internal import SystemPackage

/// The catalog and the items: a row for each item, and correct sums.
extension Repair {
    /// The age below which a file's row may still be about to be written by its writer, in milliseconds.
    private static let settlingMilliseconds: Int64 = 10_000

    func repairCatalog() throws(CacheError) {
        switch try CatalogView.look(in: engine.folders, isThorough: true) {
        case .usable(let view):
            guard try compare(view), !isDryRun else { return }
            let census = engine.catalog.census
            _ = try engine.catalog.transaction { try census.fill($0, ordering: .mostRecent) }
        case .missing: try remake("there was none")
        case .useless(let reason): try remake(reason)
        }
    }

    private func remake(_ reason: String) throws(CacheError) {
        _ = try compare(nil)
        // An empty cache needs no catalog.
        if reason == "there was none", try isEmpty() { return }
        note(.catalogRemade, .catalog, reason)
        guard !isDryRun else { return }
        let root = engine.folders.current.root
        let identity = try onFiles { () throws(FileSystemError) in try CatalogFile.identity(in: root) }
        try engine.catalog.discard(identity)
        try engine.catalog.reading { _ in }
    }

    private func isEmpty() throws(CacheError) -> Bool {
        let there = try onFiles { () throws(FileSystemError) in try engine.folders.current.itemFolderNumbers()
        }
        for prefix in there where try !files(inFolder: prefix).isEmpty { return false }
        return true
    }

    private struct ItemFile {
        let hash: KeyHash
        let attributes: FileAttributes
    }

    private func files(inFolder prefix: UInt8) throws(CacheError) -> [KeyHash: ItemFile] {
        let range = KeyHash.range(inFolder: prefix)
        let items = engine.folders.current.items
        return try onFiles { () throws(FileSystemError) in
            var files: [KeyHash: ItemFile] = [:]
            guard let folder = try items.open(CacheLayout.folder(of: range.lowerBound)) else { return files }
            for entry in try fileSystem.entries(of: folder.descriptor) {
                guard let hash = KeyHash(hexadecimal: entry.name.string), range.contains(hash),
                    let attributes = try fileSystem.attributes(
                        of: FilePath(root: nil, [entry.name]), in: folder.descriptor),
                    attributes.kind == .regular
                else { continue }
                files[hash] = ItemFile(hash: hash, attributes: attributes)
            }
            return files
        }
    }

    /// Compares all items with the catalog, and removes or sets aside those that are emptied or damaged.
    ///
    /// - Parameter view: `nil` when there is no catalog to compare with.
    /// - Returns: Whether a row is missing, wrong or superfluous.
    private func compare(_ view: CatalogView?) throws(CacheError) -> Bool {
        var isWrong = false
        for prefix in 0...UInt8.max {
            // The rows first: files that are stored after that are young.
            var known = try view?.read { try $0.knownItems(KeyHash.range(inFolder: prefix)) } ?? [:]
            let first = KeyHash.range(inFolder: prefix).lowerBound
            let folder = CacheLayout.items.pushing(CacheLayout.folder(of: first))
            attempt(.ours(folder, in: .caches)) { () throws(CacheError) in
                for (hash, file) in try files(inFolder: prefix).sorted(by: { $0.key < $1.key }) {
                    let row = known.removeValue(forKey: hash)
                    attempt(.item(hash)) { () throws(CacheError) in
                        if try inspect(file, row, hasCatalog: view != nil) { isWrong = true }
                    }
                }
                for (hash, row) in known.sorted(by: { $0.key < $1.key }) {
                    guard let view, try view.read({ try $0.knownItems(hash...hash)[hash] }) == row,
                        try attributes(hash) == nil
                    else { continue }
                    isWrong = true
                    note(.rowRemoved, .item(hash), key: key(row.key))
                }
            }
        }
        return isWrong
    }

    private func attributes(_ hash: KeyHash) throws(CacheError) -> FileAttributes? {
        try engine.promoter.attributes(of: CacheLayout.file(of: hash), in: engine.folders.current.items)
    }

    private func key(_ text: String) -> ItemKey? {
        do { return try ItemKey(text) } catch { return nil }
    }

    /// Inspects a file: one that is damaged may still have the length of its row.
    ///
    /// - Returns: Whether its row is wrong.
    private func inspect(_ file: ItemFile, _ row: CatalogView.Known?, hasCatalog: Bool)
        throws(CacheError) -> Bool
    {
        guard let opened = try engine.folders.openItem(file.hash) else { return false }
        defer { fileSystem.close(opened) }
        let identity = try engine.promoter.attributes(of: opened).identity
        do throws(ItemFormatError) {
            let footer = try ItemReader(opened, of: fileSystem, codecs: engine.codecs).footer
            guard footer.metadata.key.hash == file.hash else { throw .damaged(.key) }
            if let row, row.storedLength == file.attributes.length { return false }
            let age = environment.now() - file.attributes.modified / 1_000_000
            guard hasCatalog, !(0..<Self.settlingMilliseconds).contains(age) else { return false }
            note(row == nil ? .rowAdded : .rowCorrected, .item(file.hash), key: footer.metadata.key)
            return true
        } catch {
            guard try engine.isItem(file.hash, identity) else { return false }
            switch error {
            case .newerVersion: return false
            case .purged:
                if !isDryRun { try engine.promoter.removeCachedCopy(file.hash, identity) }
                note(.purgedItemRemoved, .item(file.hash), key: row.flatMap { key($0.key) })
                return false
            case .damaged:
                if !isDryRun { try engine.setAside(file.hash, identity) }
                note(.itemSetAside, .item(file.hash), key: row.flatMap { key($0.key) }, error.description)
                // The next step removes quarantined items.
                if isDryRun {
                    let name = file.hash.setAside.hexadecimal
                    note(
                        .quarantinedItemRemoved,
                        .ours(CacheLayout.quarantine.appending(name), in: .caches))
                }
                return false
            case .fileSystem(let error): throw .fileSystem(error)
            default: throw .item(error)
            }
        }
    }

    /// Makes the sums of the catalog match its rows, and those the blocks of the volume.
    func recount() throws(CacheError) {
        if isDryRun {
            // A catalog that would be rebuilt has no sums to check.
            guard !report.steps.contains(where: { $0.action == .catalogRemade }),
                case .usable(let view) = try CatalogView.look(in: engine.folders)
            else { return }
            return note(try view.read { try wrongSums($0) })
        }
        guard
            try onFiles({ () throws(FileSystemError) in
                try CatalogFile.identity(in: engine.folders.current.root)
            }) != nil
        else { return }
        note(
            try engine.catalog.reading { try wrongSums($0) })
        guard report.steps.contains(where: { $0.action == .statisticsCorrected }) else { return }
        try engine.catalog.transaction { transaction in
            try engine.catalog.recharge(transaction)
            try transaction.recount()
        }
    }

    private func note(_ wrongSums: [String]) {
        guard !wrongSums.isEmpty else { return }
        note(.statisticsCorrected, .catalog, wrongSums.joined(separator: ", "))
    }

    private func wrongSums(_ transaction: CatalogTransaction) throws -> [String] {
        let (charged, actual) = (try transaction.blockSize(), engine.charge.blockSize)
        // For larger blocks any use corrects it.
        let blocks = charged > actual ? ["charged in blocks of \(charged) bytes rather than \(actual)"] : []
        return blocks + (try transaction.wrongSums())
    }
}
