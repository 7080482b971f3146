internal import FileSystem
internal import ItemFormat
internal import Logging
internal import SystemPackage

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// Makes the catalog match the files on disk: adds rows for files without one, replaces those of items whose
/// length has changed, and deletes those of items that are gone.
///
/// Memory is bounded by one of the 256 folders.
final class ItemCensus: Sendable {
    /// The position in the order of use of items whose use was not recorded.
    enum Ordering {
        /// For a new catalog: the order in which the items were stored.
        case byStoreTime
        /// For items that a process stored shortly before it died: after all others.
        case mostRecent
    }

    private let folders: CacheFolders
    private let environment: CacheEnvironment
    private let codecs: CodecPool
    let charge: ChargedLength
    private let quarantine: Quarantine
    private let partials: PartialCensus

    init(
        folders: CacheFolders, environment: CacheEnvironment, codecs: CodecPool, charge: ChargedLength,
        quarantine: Quarantine
    ) {
        self.folders = folders
        self.environment = environment
        self.codecs = codecs
        self.charge = charge
        self.quarantine = quarantine
        partials = PartialCensus(folders: folders, environment: environment, charge: charge)
    }

    /// - Returns: The number of items found.
    /// - Complexity: O(n) in the items. Each is looked up, and opened if it has no row.
    func fill(_ transaction: CatalogTransaction, ordering: Ordering) throws -> Int {
        var sequence = try transaction.lastUse()
        let there = try folders.current.itemFolderNumbers()
        for prefix in 0...UInt8.max {
            try fill(folder: prefix, isThere: there.contains(prefix), transaction, &sequence)
        }
        try fillQuarantine(transaction)
        try partials.fill(transaction, &sequence)
        if ordering == .byStoreTime {
            sequence = try transaction.renumber()
        }
        try transaction.setLastUse(sequence)
        return try transaction.itemCount()
    }

    /// Finds the kept partials that no living process is writing.
    func fillPartials(_ transaction: CatalogTransaction) throws {
        var sequence: Int64 = 0
        try partials.fill(transaction, &sequence)
    }

    private func fill(
        folder prefix: UInt8, isThere: Bool, _ transaction: CatalogTransaction, _ sequence: inout Int64
    ) throws {
        let range = KeyHash.range(inFolder: prefix)
        var known = try transaction.storedLengths(range)
        if isThere, let folder = try folders.current.items.open(CacheLayout.folder(of: range.lowerBound)) {
            for entry in try environment.fileSystem.entries(of: folder.descriptor) {
                guard let hash = KeyHash(hexadecimal: entry.name.string), range.contains(hash) else {
                    continue
                }
                if let length = known[hash.data], try length == self.length(of: entry.name, in: folder) {
                    known[hash.data] = nil
                    continue
                }
                guard let row = try inspect(entry.name, hash, in: folder) else { continue }
                known[row.hash.data] = nil
                sequence += 1
                try transaction.write(row, lastUse: sequence)
            }
        }
        for hash in known.keys {
            try transaction.deleteRow(hash)
        }
    }

    private func length(of name: FilePath.Component, in folder: Directory) throws(FileSystemError) -> Int64? {
        try environment.fileSystem.attributes(of: FilePath(root: nil, [name]), in: folder.descriptor)?.length
    }

    /// Returns the row of a file, or `nil` if it was removed since the folder was listed, or is not a regular
    /// file and so not ours. A file that cannot be read is set aside: it must not keep the others from being
    /// found.
    private func inspect(_ name: FilePath.Component, _ hash: KeyHash, in folder: Directory)
        throws -> CatalogRow?
    {
        let path = FilePath(root: nil, [name])
        do {
            let file = try environment.fileSystem.open(path, in: folder.descriptor, .read)
            defer { environment.fileSystem.close(file) }
            return try row(of: file, hash)
        } catch let error as FileSystemError {
            return try unreadable(hash, error)
        } catch ItemFormatError.fileSystem(let error) {
            return try unreadable(hash, error)
        } catch ItemFormatError.purged {
            try environment.fileSystem.unlink(path, in: folder.descriptor)
            return nil
        } catch ItemFormatError.damaged {
            return try quarantine.setAside(hash)
        }
    }

    private func unreadable(_ hash: KeyHash, _ error: FileSystemError) throws -> CatalogRow? {
        if error.isNotFound || error.isNoRegularFile { return nil }
        guard error.errno == .ioError || error.isNotPermitted else { throw error }
        environment.logger.warning(
            "An item that cannot be read was set aside.",
            metadata: ["item": "\(hash.hexadecimal)", "error": "\(error)"])
        return try quarantine.setAside(hash)
    }

    private func row(of file: Descriptor, _ hash: KeyHash) throws -> CatalogRow {
        do {
            let footer = try ItemReader(file, of: environment.fileSystem, codecs: codecs).footer
            guard footer.metadata.key.hash == hash else { throw ItemFormatError.damaged(.key) }
            return CatalogRow(
                footer.metadata, encoding: footer.encoding, contentLength: footer.contentLength,
                storedLength: footer.storedLength,
                chargedLength: charge(storedLength: footer.storedLength))
        } catch ItemFormatError.newerVersion {
            return try opaqueRow(.newerFormat, file, hash)
        }
    }

    private func opaqueRow(_ kind: CatalogRow.Kind, _ file: Descriptor, _ hash: KeyHash) throws -> CatalogRow
    {
        let length = try environment.fileSystem.attributes(of: file).length
        return CatalogRow(
            opaque: kind, hash: hash, storedLength: length, chargedLength: charge(storedLength: length))
    }

    private func fillQuarantine(_ transaction: CatalogTransaction) throws {
        guard let folder = try folders.current.root.open(CacheLayout.quarantine) else { return }
        for entry in try environment.fileSystem.entries(of: folder.descriptor) {
            guard let hash = KeyHash(hexadecimal: entry.name.string) else { continue }
            let path = FilePath(root: nil, [entry.name])
            guard let attributes = try environment.fileSystem.attributes(of: path, in: folder.descriptor),
                attributes.kind == .regular
            else { continue }
            let row = CatalogRow(
                opaque: .quarantined, hash: hash, storedLength: attributes.length,
                chargedLength: charge(storedLength: attributes.length))
            try transaction.write(row, lastUse: 0)
        }
    }
}
