internal import Foundation
internal import PrefetchFileSystem
internal import PrefetchItemFormat
internal import PrefetchStorageAreas
internal import SystemPackage

/// The content of an item that was opened: an open file, or the folder of a bundle. It is the user's, and may have changed
/// in any way.
struct PromotedContent {
    let file: Descriptor
    let parts: [BundlePart]
    /// Bytes; of a file its current length.
    let length: Int64
    let fileSystem: any FileSystem

    /// - Throws: ``CacheError/item(_:)`` with `rangeOutOfBounds`.
    func data(_ range: Range<Int64>) throws(CacheError) -> Data {
        guard range.lowerBound >= 0, range.upperBound <= length else {
            throw .item(.rangeOutOfBounds(range, contentBytes: length))
        }
        return try onFiles { () throws(FileSystemError) in
            try .filled(range.byteCount, orThrow: Data.noMemory) { buffer throws(FileSystemError) in
                guard !parts.isEmpty else {
                    return try fileSystem.readAll(file, into: buffer, at: range.lowerBound)
                }
                guard try BundleFolder(file, parts, fileSystem).read(range, into: buffer) else {
                    throw FileSystemError("read", errno: .staleNFSFileHandle)
                }
                return buffer.count
            }
        }
    }

    /// - Returns: Whether all was handed out; otherwise what `sink` has thrown.
    func stream(_ range: Range<Int64>, to sink: (UnsafeRawBufferPointer) throws -> Void)
        throws(CacheError) -> Result<Void, any Error>
    {
        guard range.lowerBound >= 0, range.upperBound <= length else {
            throw .item(.rangeOutOfBounds(range, contentBytes: length))
        }
        var offset = range.lowerBound
        while offset < range.upperBound {
            let end = min(offset + Int64(ItemLimits.chunkBytes), range.upperBound)
            let piece = [UInt8](try data(offset..<end))
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

    /// Whether the file of a promotion is there as it was promoted, and no other key was promoted to it.
    func isUnmodified(_ key: ItemKey) throws(CacheError) -> Bool {
        guard let entry = try promotedEntry(key), entry.state == .committed,
            let folder = try destinations.existingFolder(of: entry),
            let file = try files.openWithoutAccessTime(entry, in: folder)
        else { return false }
        defer { environment.fileSystem.close(file) }
        guard try destinations.onDestination(entry, files.judge.isUntouched(file, of: entry)) else {
            return false
        }
        return try promoter.sharer(of: files.attributes(of: file).identity, with: entry) == nil
    }

    /// Opens the file of an entry, or the folder of a bundle, and hands its content to `body`.
    func withPromotedContent<Value>(
        of entry: LedgerEntry, isUse: Bool = true, _ body: (PromotedContent) throws(CacheError) -> Value
    ) throws(CacheError) -> Lookup<Value> {
        if entry.state == .intent { return try withContentUnderWay(of: entry, isUse: isUse, body) }
        // `body` is not coordinated, since it may run code of the app; the open descriptor keeps the content alive.
        let opened = try destinations.coordinated(.readContent, entry) { () throws(CacheError) in
            try openPromotedFile(entry)
        }
        guard let file = opened else {
            if isUse { catalog.noteMiss(entry.key) }
            return .miss(.absent)
        }
        defer { environment.fileSystem.close(file) }
        // The user may have replaced the file, so its current length counts.
        let attributes = try files.attributes(of: file)
        guard attributes.kind == entry.kind else {
            if isUse { catalog.noteMiss(entry.key) }
            return .miss(.absent)
        }
        let length = entry.parts.isEmpty ? attributes.length : entry.contentBytes
        let value = try body(
            PromotedContent(
                file: file, parts: entry.parts, length: length, fileSystem: environment.fileSystem))
        if isUse { noteReopened(entry) }
        return .hit(value)
    }

    private func noteReopened(_ entry: LedgerEntry) {
        history.record(
            UsageEvent(kind: .reopened, key: entry.key.string, source: entry.provenance?.source ?? ""))
    }

    private func withContentUnderWay<Value>(
        of intent: LedgerEntry, isUse: Bool, _ body: (PromotedContent) throws(CacheError) -> Value
    ) throws(CacheError) -> Lookup<Value> {
        guard let file = try files.openUnderWay(intent) else {
            // It was completed or undone since the entry was read, or the user has changed what a dead process has opened.
            if let now = try promoter.settledEntryWithoutWaiting(after: intent), now != intent {
                return try withPromotedContent(of: now, isUse: isUse, body)
            }
            if isUse { catalog.noteMiss(intent.key) }
            return .miss(.absent)
        }
        defer { environment.fileSystem.close(file) }
        let value = try body(
            PromotedContent(
                file: file, parts: intent.parts, length: intent.contentBytes,
                fileSystem: environment.fileSystem))
        if isUse { noteReopened(intent) }
        return .hit(value)
    }

    private func openPromotedFile(_ entry: LedgerEntry) throws(CacheError) -> Descriptor? {
        guard let folder = try destinations.existingFolder(of: entry) else { return nil }
        return try onFiles(
            ifPresent { () throws(FileSystemError) in
                try environment.fileSystem.open(entry.name.path, in: folder.descriptor, entry.openMode)
            })
    }
}
