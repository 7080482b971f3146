internal import PrefetchFileSystem
internal import PrefetchItemFormat
internal import SystemPackage

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// Reading promoted files. They are the user's, and may have changed in any way.
extension Engine {
    /// The promotion of a key, complete or under way.
    func promotedEntry(_ key: ItemKey) throws(CacheError) -> LedgerEntry? {
        try promotedKeys.entry(for: key.hash).flatMap { $0.key == key ? $0 : nil }
    }

    /// Whether there is content under an entry: the file is in place, or its promotion is under way.
    func isThere(_ entry: LedgerEntry) throws(CacheError) -> Bool {
        switch entry.state {
        case .committed: try files.existingFile(of: entry) != nil
        case .intent: try files.isUnderWay(entry)
        }
    }

    func withPromotedFile<Value>(
        _ entry: LedgerEntry, _ body: (Descriptor, Int64) throws(CacheError) -> Value
    ) throws(CacheError) -> Lookup<Value> {
        if entry.state == .intent { return try withFileUnderWay(entry, body) }
        // `body` is not coordinated, since it may run code of the app; the open descriptor keeps the content.
        let opened = try destinations.coordinated(.readContent, entry) { () throws(CacheError) in
            try openPromotedFile(entry)
        }
        guard let file = opened else {
            catalog.noteMiss(entry.key.hash)
            return .miss(.absent)
        }
        defer { environment.fileSystem.close(file) }
        // The user may have replaced the file, so its present length counts.
        let attributes = try files.attributes(of: file)
        guard attributes.kind == .regular else {
            catalog.noteMiss(entry.key.hash)
            return .miss(.absent)
        }
        let value = try body(file, attributes.length)
        catalog.inMemory { $0.pending.count(.hits) }
        return .hit(value)
    }

    private func withFileUnderWay<Value>(
        _ intent: LedgerEntry, _ body: (Descriptor, Int64) throws(CacheError) -> Value
    ) throws(CacheError) -> Lookup<Value> {
        guard let file = try files.openUnderWay(intent) else {
            // It was completed or undone since the entry was read.
            if let now = try ledger.entry(for: intent.key), now != intent {
                return try withPromotedFile(now, body)
            }
            catalog.noteMiss(intent.key.hash)
            return .miss(.absent)
        }
        defer { environment.fileSystem.close(file) }
        let value = try body(file, intent.contentBytes)
        catalog.inMemory { $0.pending.count(.hits) }
        return .hit(value)
    }

    private func openPromotedFile(_ entry: LedgerEntry) throws(CacheError) -> Descriptor? {
        guard let folder = try destinations.existingFolder(of: entry) else { return nil }
        do throws(FileSystemError) {
            return try environment.fileSystem.open(entry.name.path, in: folder.descriptor, .read)
        } catch {
            guard error.isNotFound || error.isNotRegularFile else { throw .fileSystem(error) }
            return nil
        }
    }

    func stream(
        _ file: Descriptor, _ range: Range<Int64>, _ length: Int64,
        to sink: (UnsafeRawBufferPointer) throws -> Void
    ) throws(CacheError) -> Result<Void, any Error> {
        guard range.lowerBound >= 0, range.upperBound <= length else {
            throw .item(.rangeOutOfBounds(range, contentBytes: length))
        }
        var offset = range.lowerBound
        while offset < range.upperBound {
            let end = min(offset + Int64(ItemLimits.chunkBytes), range.upperBound)
            let piece = try onFiles { () throws(FileSystemError) in
                try [UInt8](Data(reading: offset..<end, of: file, in: environment.fileSystem))
            }
            do { try piece.withUnsafeBytes(sink) } catch { return .failure(error) }
            guard Int64(piece.count) == end - offset else {
                // The file was truncated meanwhile.
                throw .item(.rangeOutOfBounds(range, contentBytes: offset + Int64(piece.count)))
            }
            offset = end
        }
        return .success(())
    }
}
