internal import Foundation
internal import Logging
internal import PrefetchFileSystem
internal import PrefetchItemFormat
internal import PrefetchVolumeCapacity
internal import SystemPackage

/// Reconciles the catalog with the files on disk: adds missing rows, replaces those of items whose length has changed,
/// and deletes those of items that are gone.
///
/// Memory is bounded by the largest of the 256 folders.
final class ItemReconciler: Sendable {
    private let folders: CacheFolders
    private let environment: CacheEnvironment
    private let codecs: CodecPool
    let charge: ChargedLength
    private let quarantine: Quarantine
    private let partials: PartialReconciler

    init(
        folders: CacheFolders, environment: CacheEnvironment, codecs: CodecPool, charge: ChargedLength,
        quarantine: Quarantine
    ) {
        self.folders = folders
        self.environment = environment
        self.codecs = codecs
        self.charge = charge
        self.quarantine = quarantine
        partials = PartialReconciler(folders: folders, environment: environment, charge: charge)
    }

    /// Rows that are added are the last in the order of use.
    ///
    /// - Parameter hashes: The items whose rows can be wrong; `nil` for all.
    /// - Returns: The number of items found.
    /// - Complexity: O(n) in these items. Each is looked up, and opened if it has no row.
    @discardableResult
    func fill(_ transaction: CatalogTransaction, only hashes: [KeyHash]? = nil) throws -> Int {
        var sequence = try transaction.lastUse()
        if let hashes {
            for hash in hashes {
                var known = try transaction.knownItems(hash...hash)
                try reconcile(
                    hash, at: CacheLayout.file(of: hash), in: folders.current.items, &known, transaction,
                    &sequence)
                if !known.isEmpty { try transaction.deleteRow(hash) }
            }
        } else {
            let there = try folders.current.itemFolderNumbers()
            for prefix in 0...UInt8.max {
                try fill(folder: prefix, isThere: there.contains(prefix), transaction, &sequence)
            }
            try transaction.deleteRowsWithoutHash()
        }
        try fillQuarantine(transaction)
        try partials.fill(transaction, &sequence)
        try transaction.setLastUse(sequence)
        return try transaction.statistics().items
    }

    /// Finds the kept partials that no living process is writing.
    func fillPartials(_ transaction: CatalogTransaction) throws {
        var sequence: Int64 = 0
        try partials.fill(transaction, &sequence)
    }

    private func fill(
        folder prefix: UInt8, isThere: Bool, _ transaction: CatalogTransaction, _ sequence: inout Int64
    ) throws {
        var known = try transaction.knownItems(KeyHash.range(inFolder: prefix))
        if isThere, let (folder, hashes) = try folders.current.itemFolder(prefix) {
            for hash in hashes {
                try reconcile(
                    hash, at: FilePath(hash.hexadecimal), in: folder, &known, transaction, &sequence)
            }
        }
        for hash in known.keys { try transaction.deleteRow(hash) }
    }

    /// - Parameter known: Rows that may have no file. That of this item is removed from them if it has one.
    private func reconcile(
        _ hash: KeyHash, at name: FilePath, in folder: Directory, _ known: inout [KeyHash: CatalogView.Known],
        _ transaction: CatalogTransaction, _ sequence: inout Int64
    ) throws {
        if let row = known[hash],
            try environment.fileSystem.attributes(of: name, in: folder.descriptor)?.length == row.storedBytes
        {
            known[hash] = nil
            return
        }
        guard let row = try row(of: name, hash, in: folder) else { return }
        known[row.hash] = nil
        sequence += 1
        try transaction.write(row, lastUse: sequence)
    }

    /// What the file of an item turns out to be.
    enum Finding {
        /// An item, and the row that it should have.
        case item(CatalogRow)
        case purged
        case damaged(ItemFormatError)
    }

    /// Inspects the footer of an item's file. Changes nothing.
    func inspect(_ file: Descriptor, _ hash: KeyHash) throws(ItemFormatError) -> Finding {
        do {
            let footer = try ItemReader(file, of: environment.fileSystem, codecs: codecs).footer
            guard footer.metadata.key.hash == hash else { return .damaged(.damaged(.key)) }
            return .item(
                CatalogRow(
                    footer.metadata, encoding: footer.encoding, contentBytes: footer.contentBytes,
                    storedBytes: footer.storedBytes, chargedBytes: charge(storedBytes: footer.storedBytes)))
        } catch {
            switch error {
            case .purged: return .purged
            case .damaged: return .damaged(error)
            case .newerVersion: break
            default: throw error
            }
        }
        do throws(FileSystemError) {
            let length = try environment.fileSystem.attributes(of: file).length
            return .item(
                CatalogRow(
                    opaque: .newerFormat, hash: hash, storedBytes: length,
                    chargedBytes: charge(storedBytes: length)))
        } catch {
            throw .fileSystem(error)
        }
    }

    /// Returns the row of a file, or `nil` if it was removed since the folder was listed, or is not a regular file and
    /// so not ours. A file that cannot be read is quarantined: it must not prevent the others from being found.
    private func row(of name: FilePath, _ hash: KeyHash, in folder: Directory) throws -> CatalogRow? {
        let fileSystem = environment.fileSystem
        do {
            let file = try fileSystem.open(name, in: folder.descriptor, .read)
            defer { fileSystem.close(file) }
            switch try inspect(file, hash) {
            case .item(let row): return row
            case .damaged: return try quarantined(hash)
            case .purged:
                do {
                    try fileSystem.unlink(name, in: folder.descriptor)
                } catch {
                    if !error.isReadOnlyVolume { throw error }
                }
                return nil
            }
        } catch let error as FileSystemError {
            return try unreadable(hash, error)
        } catch ItemFormatError.fileSystem(let error) {
            return try unreadable(hash, error)
        }
    }

    private func unreadable(_ hash: KeyHash, _ error: FileSystemError) throws -> CatalogRow? {
        if error.isNotFound || error.isNotRegularFile { return nil }
        guard error.errno == .ioError || error.isNotPermitted else { throw error }
        environment.logger.warning(
            "An unreadable item was quarantined.",
            metadata: ["item": "\(hash.hexadecimal)", "error": "\(error)"])
        return try quarantined(hash)
    }

    /// On a read-only volume it stays where it is, and needs no row: nobody is served from it.
    private func quarantined(_ hash: KeyHash) throws(CacheError) -> CatalogRow? {
        do {
            return try quarantine.add(hash)
        } catch {
            guard case .fileSystem(let reason) = error, reason.isReadOnlyVolume else { throw error }
            return nil
        }
    }

    private func fillQuarantine(_ transaction: CatalogTransaction) throws {
        var known = try transaction.knownBesidesItems().filter { $0.value.kind == .quarantined }
        if let folder = try folders.current.root.open(CacheLayout.quarantine) {
            for entry in try environment.fileSystem.entries(of: folder.descriptor) {
                guard let hash = KeyHash(hexadecimal: entry.name.string) else { continue }
                let path = FilePath(root: nil, [entry.name])
                guard let attributes = try environment.fileSystem.attributes(of: path, in: folder.descriptor),
                    attributes.kind == .regular
                else { continue }
                let row = CatalogRow(
                    opaque: .quarantined, hash: hash, storedBytes: attributes.length,
                    chargedBytes: charge(storedBytes: attributes.length))
                try transaction.write(row, lastUse: 0)
                known[hash] = nil
            }
        }
        for hash in known.keys { try transaction.deleteRow(hash) }
    }
}

/// Reconciles the catalog with the partials in `incoming/` that are not being written: a row for each, and none for
/// those that are gone. Partials that can never be resumed are removed.
struct PartialReconciler {
    let folders: CacheFolders
    let environment: CacheEnvironment
    let charge: ChargedLength

    /// The state of one partial.
    private enum Finding {
        /// Its writer is alive, and its allowance covers it.
        case held
        case kept(CatalogRow)
        case unusable
    }

    /// - Parameter sequence: The last number of the order of use.
    /// - Complexity: O(n) in the partials, each of which is opened.
    func fill(_ transaction: CatalogTransaction, _ sequence: inout Int64) throws {
        let files = PartialFiles(incoming: folders.current.incoming)
        var known = try transaction.knownBesidesItems().filter { $0.value.kind != .quarantined }
        var rows: [CatalogRow] = []
        for hash in try files.hashes() {
            guard let row = try look(at: hash, files) else { continue }
            if let old = known.removeValue(forKey: row.hash),
                (old.storedBytes, old.chargedBytes) == (row.storedBytes, row.chargedBytes)
            {
                continue
            }
            rows.append(row)
        }
        // A held partial has no row, or one that its writer is about to take over.
        for hash in known.keys {
            if case .held = try files.state(of: hash.ofPartial) { continue }
            try transaction.deleteRow(hash)
        }
        for row in rows.sorted(by: { ($0.metadata?.storedAt ?? 0) < ($1.metadata?.storedAt ?? 0) }) {
            sequence += 1
            try transaction.write(row, lastUse: sequence)
        }
    }

    /// - Returns: The row of a partial; `nil` when it needs none.
    private func look(at hash: KeyHash, _ files: PartialFiles) throws -> CatalogRow? {
        let finding: Finding
        do {
            finding = try self.finding(hash, files)
        } catch ItemFormatError.fileSystem(let error) {
            return try unreadable(hash, files, error)
        } catch let error as FileSystemError {
            return try unreadable(hash, files, error)
        }
        switch finding {
        case .held: return nil
        case .kept(let row): return row
        case .unusable:
            do {
                _ = try files.remove(hash)
                return nil
            } catch {
                return try unreadable(hash, files, error)
            }
        }
    }

    /// Whether a partial can never be resumed. Changes nothing.
    func isUnusable(_ hash: KeyHash) throws(CacheError) -> Bool {
        do {
            let files = PartialFiles(incoming: folders.current.incoming)
            if case .unusable = try finding(hash, files) { return true }
            return false
        } catch {
            throw CatalogFile.wrapped(error, in: folders)
        }
    }

    private func finding(_ hash: KeyHash, _ files: PartialFiles) throws -> Finding {
        guard let storedBytes = try files.lengthOfChunks(hash), let file = try files.openJournal(hash) else {
            return .unusable
        }
        let fileSystem = environment.fileSystem
        defer { fileSystem.close(file) }
        guard let head = try PartialHead(of: file, in: fileSystem) else { return .unusable }
        if try files.livingWriter(head) != nil { return .held }
        let journalLength = try fileSystem.attributes(of: file).length
        do throws(ItemFormatError) {
            let journal = try PartialJournal(of: file, in: fileSystem)
            // The system may have emptied the chunks but not the journal.
            var there = journal
            there.cut(toStoredLength: storedBytes)
            guard journal.metadata.key.hash == hash, !there.chunks.isEmpty else { return .unusable }
            return .kept(
                CatalogRow(
                    partial: journal, keptAt: head.keptAt, now: environment.now(), storedBytes: storedBytes,
                    journalLength: journalLength, charge: charge))
        } catch {
            switch error {
            case .newerVersion(let version):
                environment.logger.notice(
                    "A partial of a newer version is left alone.",
                    metadata: ["item": "\(hash.hexadecimal)", "version": "\(version)"])
                return .kept(opaqueRow(.newerPartial, hash, storedBytes, journalLength))
            case .damaged: return .unusable
            default: throw error
            }
        }
    }

    /// A partial that can be neither read nor removed stays charged, and is evicted first once that is possible.
    private func unreadable(_ hash: KeyHash, _ files: PartialFiles, _ error: FileSystemError)
        throws -> CatalogRow?
    {
        environment.logger.warning(
            "A kept partial cannot be read.",
            metadata: ["item": "\(hash.hexadecimal)", "error": "\(error)"])
        let lengths = [CacheLayout.keptPartial(of: hash), CacheLayout.journal(of: hash)].map { name in
            Result { () throws(FileSystemError) in
                try environment.fileSystem.attributes(of: name, in: files.incoming.descriptor)
            }
        }
        let (chunks, journal) = (try lengths[0].get(), try lengths[1].get())
        guard chunks?.kind == .regular || journal?.kind == .regular else { return nil }
        return opaqueRow(.partial, hash, chunks?.length ?? 0, journal?.length ?? 0)
    }

    private func opaqueRow(
        _ kind: CatalogRow.Kind, _ hash: KeyHash, _ storedBytes: Int64, _ journalLength: Int64
    ) -> CatalogRow {
        CatalogRow(
            opaque: kind, hash: hash.ofPartial, storedBytes: storedBytes,
            chargedBytes: charge(storedBytes: storedBytes) + charge(storedBytes: journalLength))
    }
}

extension PartialItem {
    /// When a partial expires, in milliseconds since 1970.
    ///
    /// - Parameter keptAt: When it was last begun, resumed or suspended. A clock that was set back since does
    ///   not make it last longer.
    static func expiry(keptAt: Int64, now: Int64, of metadata: ItemMetadata) -> Int64 {
        min(min(keptAt, now) + lifetimeMilliseconds, metadata.expiresAt ?? .max)
    }
}

extension CatalogRow {
    /// The row of a partial that is not being written.
    ///
    /// - Parameter storedBytes: The length of the file of its chunks. The journal is charged separately.
    init(
        partial journal: PartialJournal, keptAt: Int64, now: Int64, storedBytes: Int64, journalLength: Int64,
        charge: ChargedLength
    ) {
        var metadata = journal.metadata
        metadata.storedAt = keptAt
        metadata.expiresAt = PartialItem.expiry(keptAt: keptAt, now: now, of: journal.metadata)
        // Partials are evicted in the order in which they were kept.
        metadata.priority = 0
        self.init(
            metadata, encoding: journal.encoding, contentBytes: journal.contentBytes,
            storedBytes: storedBytes,
            chargedBytes: charge(storedBytes: storedBytes) + charge(storedBytes: journalLength))
        kind = .partial
        hash = metadata.key.hash.ofPartial
    }
}
