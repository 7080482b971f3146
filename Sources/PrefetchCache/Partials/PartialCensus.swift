internal import FileSystem
internal import ItemFormat
internal import Logging
internal import VolumeCapacity

/// Makes the catalog match the partials in `incoming/` that are not being written: a row for each, and none
/// for those that are gone. Partials that can never be resumed are removed.
struct PartialCensus {
    let folders: CacheFolders
    let environment: CacheEnvironment
    let charge: ChargedLength

    /// The state of one partial.
    private enum Finding {
        /// Its writer lives, and accounts for it.
        case held
        case kept(CatalogRow)
        case useless
    }

    /// - Parameter sequence: The last number of the order of use.
    /// - Complexity: O(n) in the partials, each of which is opened.
    func fill(_ transaction: CatalogTransaction, _ sequence: inout Int64) throws {
        let files = PartialFiles(incoming: folders.current.incoming)
        var known = try transaction.partialLengths()
        var rows: [CatalogRow] = []
        for hash in try files.hashes() {
            guard let row = try look(at: hash, files) else { continue }
            if let old = known.removeValue(forKey: row.hash),
                old == (stored: row.storedLength, charged: row.chargedLength)
            {
                continue
            }
            rows.append(row)
        }
        // A held partial has no row, or one that its writer is about to take over.
        for hash in known.keys {
            if case .held = try files.standing(of: hash.ofPartial) { continue }
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
        case .useless:
            do {
                _ = try files.remove(hash)
                return nil
            } catch {
                return try unreadable(hash, files, error)
            }
        }
    }

    /// Whether a partial can never be resumed. Changes nothing.
    func isUseless(_ hash: KeyHash) throws(CacheError) -> Bool {
        do {
            let files = PartialFiles(incoming: folders.current.incoming)
            if case .useless = try finding(hash, files) { return true }
            return false
        } catch ItemFormatError.fileSystem(let error) {
            throw .fileSystem(error)
        } catch {
            throw CatalogFile.wrapped(error, in: folders)
        }
    }

    private func finding(_ hash: KeyHash, _ files: PartialFiles) throws -> Finding {
        guard let storedLength = try files.lengthOfChunks(hash), let file = try files.openJournal(hash) else {
            return .useless
        }
        let fileSystem = environment.fileSystem
        defer { fileSystem.close(file) }
        guard let head = try PartialHead(of: file, in: fileSystem) else { return .useless }
        if try files.livingWriter(head) != nil { return .held }
        let journalLength = try fileSystem.attributes(of: file).length
        do throws(ItemFormatError) {
            let journal = try PartialJournal(of: file, in: fileSystem)
            // The system may have emptied the chunks and left the journal.
            var there = journal
            there.cut(toStoredLength: storedLength)
            guard journal.metadata.key.hash == hash, !there.chunks.isEmpty else { return .useless }
            return .kept(
                CatalogRow(
                    partial: journal, keptAt: head.keptAt, now: environment.now(), storedLength: storedLength,
                    journalLength: journalLength, charge: charge))
        } catch {
            switch error {
            case .newerVersion(let version):
                environment.logger.notice(
                    "A partial of a newer version is left alone.",
                    metadata: ["item": "\(hash.hexadecimal)", "version": "\(version)"])
                return .kept(opaqueRow(.newerPartial, hash, storedLength, journalLength))
            case .damaged: return .useless
            default: throw error
            }
        }
    }

    /// A partial that can be neither read nor removed takes its space, and is evicted first once that is
    /// possible.
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
        _ kind: CatalogRow.Kind, _ hash: KeyHash, _ storedLength: Int64, _ journalLength: Int64
    ) -> CatalogRow {
        CatalogRow(
            opaque: kind, hash: hash.ofPartial, storedLength: storedLength,
            chargedLength: charge(storedLength: storedLength) + charge(storedLength: journalLength))
    }
}

extension PartialItem {
    /// When a partial expires, in milliseconds since 1970.
    ///
    /// - Parameter keptAt: When it was last begun, resumed or suspended. A clock that was set back since does
    ///   not make it last longer.
    static func expiry(keptAt: Int64, now: Int64, of metadata: ItemMetadata) -> Int64 {
        min(min(keptAt, now) + lifetime, metadata.expiresAt ?? .max)
    }
}

extension CatalogRow {
    /// The row of a partial that is not being written.
    ///
    /// - Parameter storedLength: The length of the file of its chunks. The journal is charged separately.
    init(
        partial journal: PartialJournal, keptAt: Int64, now: Int64, storedLength: Int64, journalLength: Int64,
        charge: ChargedLength
    ) {
        var metadata = journal.metadata
        metadata.storedAt = keptAt
        metadata.expiresAt = PartialItem.expiry(keptAt: keptAt, now: now, of: journal.metadata)
        // Partials are evicted in the order in which they were kept.
        metadata.priority = 0
        self.init(
            metadata, encoding: journal.encoding, contentLength: journal.contentLength,
            storedLength: storedLength,
            chargedLength: charge(storedLength: storedLength) + charge(storedLength: journalLength))
        kind = .partial
        hash = metadata.key.hash.ofPartial
    }
}
