internal import Foundation
internal import PrefetchFileSystem
internal import PrefetchItemFormat
internal import SystemPackage

/// What there is of an item's content.
enum Arrival: Sendable {
    /// Bytes at the offset; none at the end of the content.
    case present(Data, ContentVersion, isComplete: Bool)
    /// They have not arrived; with the version of what has, unless there is nothing of the item.
    case awaited(ContentVersion?)
}

/// Tells whether two parts belong to one content.
struct ContentVersion: Sendable {
    let validator: Validator
    /// Bytes of the whole content, if known.
    let length: Int64?

    func canBe(_ other: ContentVersion) -> Bool {
        if let length, let others = other.length, length != others { return false }
        return validator.isEmpty || other.validator.isEmpty || validator == other.validator
    }
}

/// Content that is read while it is stored, by this process or another.
extension Engine {
    /// Returns the content of a key from an offset on: of the cached item, of the file that it was promoted to, or of a
    /// partial, whose whole chunks can be read.
    ///
    /// - Parameters:
    ///   - limit: The most bytes to return.
    ///   - isUse: Whether content that is complete counts as used.
    ///   - wanted: The version that a partial must be of: what is left of another one may lie beside it.
    /// - Throws: ``CacheError/item(_:)`` with `rangeOutOfBounds` for an offset past the end.
    func arrival(
        of key: ItemKey, from offset: Int64, upTo limit: Int, isUse: Bool, as wanted: ContentVersion?
    ) throws(CacheError) -> Arrival {
        guard offset >= 0 else { throw .item(.rangeOutOfBounds(offset..<0, contentBytes: 0)) }
        // A row that is missing is noted only once, not with every look.
        if try isCached(key.hash) {
            let lookup = try withItem(key, isUse: isUse) { reader throws(ItemFormatError) in
                let length = reader.footer.contentBytes
                return Arrival.present(
                    try Data(reading: range(from: offset, upTo: limit, of: length), of: reader),
                    ContentVersion(validator: reader.footer.metadata.validator, length: length),
                    isComplete: true)
            }
            if let arrival = lookup.value { return arrival }
        }
        if let entry = try promotedEntry(key) {
            let lookup = try withPromotedContent(of: entry, isUse: isUse) { content throws(CacheError) in
                let wanted = try onItem(range(from: offset, upTo: limit, of: content.length))
                return Arrival.present(
                    try content.data(wanted),
                    ContentVersion(
                        validator: entry.provenance?.validator ?? Validator(), length: content.length),
                    isComplete: true)
            }
            if let arrival = lookup.value { return arrival }
        }
        var arrived: ContentVersion?
        for partial in try onFiles(partialsUnderWay(of: key)) where wanted?.canBe(partial.version) ?? true {
            switch try arrival(in: partial, from: offset, upTo: limit) {
            case .present(let data, let version, let isComplete)?:
                return .present(data, version, isComplete: isComplete)
            case .awaited(let version)?: arrived = arrived ?? version
            case nil: break
            }
        }
        return .awaited(arrived)
    }

    private func range(from offset: Int64, upTo limit: Int, of length: Int64)
        throws(ItemFormatError) -> Range<Int64>
    {
        guard (0...length).contains(offset) else {
            throw .rangeOutOfBounds(offset..<max(offset, length), contentBytes: length)
        }
        return offset..<offset + min(length - offset, Int64(limit))
    }

    private struct Partial {
        let folder: Directory
        let chunks: FilePath
        let journal: PartialJournal

        var version: ContentVersion {
            ContentVersion(validator: journal.metadata.validator, length: journal.expectedLength)
        }
    }

    /// The partials of a key, the longest first, whether or not somebody is writing them.
    private func partialsUnderWay(of key: ItemKey) throws(FileSystemError) -> [Partial] {
        let incoming = folders.current.incoming
        var places = [
            (incoming, CacheLayout.journal(of: key.hash), CacheLayout.keptPartial(of: key.hash))
        ]
        for staged in try stagedPartials(of: key.hash) {
            places.append((staged.staging, staged.journalName, staged.name))
        }
        var partials: [Partial] = []
        for (folder, name, chunks) in places {
            guard let journal = try journal(name, in: folder), journal.metadata.key == key else { continue }
            partials.append(Partial(folder: folder, chunks: chunks, journal: journal))
        }
        return partials.sorted { $0.journal.contentBytes > $1.journal.contentBytes }
    }

    /// - Returns: `nil` if the journal is not there, or cannot be used now: it may just be begun anew.
    private func journal(_ name: FilePath, in folder: Directory) throws(FileSystemError) -> PartialJournal? {
        let fileSystem = environment.fileSystem
        return try ifPresent { () throws(FileSystemError) -> PartialJournal? in
            let journal = try fileSystem.withFile(name, in: folder.descriptor, .read) {
                file throws(FileSystemError) in
                Result { () throws(ItemFormatError) in try PartialJournal(of: file, in: fileSystem) }
            }
            switch journal {
            case .success(let journal): return journal
            case .failure(.fileSystem(let error)): throw error
            case .failure: return nil
            }
        } ?? nil
    }

    /// The content of a partial: at most to the end of the chunk at the offset.
    ///
    /// - Returns: `nil` if that chunk is damaged, or was overwritten or published meanwhile.
    private func arrival(in partial: Partial, from offset: Int64, upTo limit: Int) throws(CacheError)
        -> Arrival?
    {
        let (fileSystem, journal, version) = (environment.fileSystem, partial.journal, partial.version)
        if let length = version.length {
            guard try !onItem(range(from: offset, upTo: limit, of: length)).isEmpty else {
                return .present(Data(), version, isComplete: false)
            }
        }
        let (index, start) = offset.quotientAndRemainder(dividingBy: Int64(ItemLimits.chunkBytes))
        guard index < journal.chunks.count else { return .awaited(version) }
        let opened = try onFiles(
            ifPresent { () throws(FileSystemError) in
                try fileSystem.open(partial.chunks, in: partial.folder.descriptor, .read)
            })
        guard let file = opened else { return nil }
        defer { fileSystem.close(file) }
        let data = try onItem(
            journal.withContent(ofChunk: Int(index), in: file, of: fileSystem, codecs: codecs) { content in
                Data(content[Int(start)...].prefix(limit))
            })
        return data.map { .present($0, version, isComplete: false) }
    }

    /// Whether a process, this one or another, is storing an item.
    func isUnderWay(_ key: ItemKey) throws(CacheError) -> Bool {
        if try claims.isHeld(key.hash) { return true }
        let files = PartialFiles(incoming: folders.current.incoming)
        return try onFiles { () throws(FileSystemError) in
            if case .held = try files.state(of: key.hash) { return true }
            for folder in try destinations.support.stagingFolders() {
                for entry in try environment.fileSystem.entries(of: folder.descriptor)
                where CacheLayout.hash(ofStaged: entry.name) == key.hash {
                    let name = FilePath(root: nil, [entry.name])
                    if try environment.fileSystem.isLocked(name, in: folder) { return true }
                }
            }
            return false
        }
    }
}

extension FileSystem {
    /// Whether a file is locked, by this process or another; `false` also without the file or locks.
    func isLocked(_ name: FilePath, in folder: Directory) throws(FileSystemError) -> Bool {
        do {
            let file = try open(name, in: folder.descriptor, .read)
            defer { unlock(file) }
            return try !lock(file, .shared, waiting: false)
        } catch {
            guard error.isNotFound || error.isNotRegularFile || error.isUnsupported else { throw error }
            return false
        }
    }
}
