internal import Foundation
internal import Logging
internal import PrefetchFileSystem
internal import PrefetchItemFormat
internal import PrefetchStorageAreas
internal import Synchronization
internal import SystemPackage

#if canImport(Darwin)
    internal import Darwin
#else
    internal import Glibc
#endif

extension Engine {
    /// Returns the content of a cached item, or of its promoted file. Never promotes.
    ///
    /// - Parameters:
    ///   - range: The bytes wanted; `nil` for all.
    ///   - isUse: Whether it counts as a use.
    func read(_ key: ItemKey, _ range: Range<Int64>?, isUse: Bool = true) throws(CacheError) -> Lookup<Data> {
        try read(key, isUse: isUse) { _, length in range ?? 0..<length }.map { $0 ?? Data() }
    }

    /// Returns the content of a cached item whose file is small and in the system's memory: on any thread, for nothing is
    /// waited for. It is not leased, since one call reads all of it.
    ///
    /// - Returns: `nil` if that is impossible, or there is anything to say about the item, which ``read(_:_:isUse:)`` does.
    func readWithoutWaiting(_ key: ItemKey, _ range: Range<Int64>?, isUse: Bool) -> Data? {
        guard canReadWithoutWaiting.load(ordering: .relaxed) else { return nil }
        do {
            guard
                let reader = try ItemReader(
                    inMemory: CacheLayout.file(of: key.hash), in: folders.current.items.descriptor,
                    of: environment.fileSystem, codecs: codecs, contentOfAtMost: Self.longestReadInMemory),
                reader.footer.metadata.key == key, !reader.footer.metadata.hasExpired(at: environment.now)
            else { return nil }
            let content = try Data(reading: range ?? 0..<reader.footer.contentBytes, of: reader)
            if isUse { catalog.noteHit(key.hash) }
            return content
        } catch {
            // An ordinary read says what is wrong.
            if let error = error as? FileSystemError, error.isUnsupported {
                canReadWithoutWaiting.store(false, ordering: .relaxed)
            }
            return nil
        }
    }

    /// The longest content, in bytes, that a thread of the caller decompresses: that takes about as long as to change threads.
    private static let longestReadInMemory: Int64 = 128 << 10

    /// Returns the content of one file of a bundle; `nil` if the bundle has no such file, or it is no bundle.
    func read(_ key: ItemKey, part path: FolderPath, isUse: Bool = true) throws(CacheError) -> Lookup<Data?> {
        try read(key, isUse: isUse) { parts, _ in parts.range(of: path) }
    }

    /// - Parameter range: Chooses the bytes by the parts of a bundle and the length of the content.
    private func read(
        _ key: ItemKey, isUse: Bool, _ range: ([BundlePart], Int64) -> Range<Int64>?
    ) throws(CacheError) -> Lookup<Data?> {
        let lookup = try withItem(key, isUse: isUse) { reader throws(ItemFormatError) in
            try range(reader.footer.metadata.parts, reader.footer.contentBytes)
                .map { range throws(ItemFormatError) in try Data(reading: range, of: reader) }
        }
        guard case .miss(.absent) = lookup else { return lookup }
        guard let entry = try promotedEntry(key) else {
            if isUse { catalog.noteMiss(key) }
            return lookup
        }
        return try withPromotedContent(of: entry, isUse: isUse) { content throws(CacheError) in
            try range(content.parts, content.length)
                .map { range throws(CacheError) in try content.data(range) }
        }
    }

    /// Hands the content of an item to `sink`, piece by piece and in order. Never promotes.
    ///
    /// A damaged item is a miss only as long as nothing was handed out.
    ///
    /// - Parameters:
    ///   - isUse: Whether it counts as a use.
    ///   - fromCacheOnly: Whether promoted files are not considered.
    /// - Returns: For a hit, whether all was handed out; otherwise the damage, or what `sink` has thrown.
    func stream(
        _ key: ItemKey, _ range: Range<Int64>?, isUse: Bool = true, fromCacheOnly: Bool = false,
        to sink: (UnsafeRawBufferPointer) throws -> Void
    ) throws(CacheError) -> Lookup<Result<Void, any Error>> {
        var damage: ItemFormatError?
        let lookup = try withItem(key, isUse: isUse) { reader throws(ItemFormatError) in
            var pieces = try reader.pieces(of: range ?? 0..<reader.footer.contentBytes)
            var hasStarted = false
            do throws(ItemFormatError) {
                while let piece = try pieces.next() {
                    hasStarted = true
                    do { try sink(piece) } catch { return Result<Void, any Error>.failure(error) }
                }
            } catch {
                if hasStarted { damage = error }
                throw error
            }
            return .success(())
        }
        if let damage { return .hit(.failure(CacheError.item(damage))) }
        guard !fromCacheOnly, case .miss(.absent) = lookup else { return lookup }
        guard let entry = try promotedEntry(key) else {
            if isUse { catalog.noteMiss(key) }
            return lookup
        }
        return try withPromotedContent(of: entry, isUse: isUse) { content throws(CacheError) in
            try content.stream(range ?? 0..<content.length, to: sink)
        }
    }

    /// Returns what is known about a key.
    func status(of key: ItemKey) throws(CacheError) -> Lookup<ItemStatus> {
        // First: an item that was opened but is still cached is removed by its next open.
        let promotion = try promotedEntry(key)
        if let promotion, promotion.state == .committed,
            let file = try files.existingFile(of: promotion)
        {
            return .hit(.promoted(file))
        }
        // First the file: the catalog may be locked, or may not know yet that another process removed it.
        if try isCached(key.hash) {
            let row = try catalog.reading { try $0.item(key) }
            if let row, row.expiresAt.map({ $0 > environment.now() }) ?? true { return .hit(.cached(row)) }
        }
        guard let promotion, promotion.state == .intent, try isThere(promotion) else { return .miss(.absent) }
        return .hit(.promoted(destinations.promotedFile(promotion, presentBytes: nil)))
    }

    /// Whether an item has a file.
    func isCached(_ hash: KeyHash) throws(CacheError) -> Bool {
        try files.attributes(of: CacheLayout.file(of: hash), in: folders.current.items)?.kind
            == .regular
    }

    /// The metadata of a cached item and the length of its content, read from its file. Does not count as a
    /// use.
    func description(of key: ItemKey) throws(CacheError) -> (metadata: ItemMetadata, contentBytes: Int64)? {
        guard let file = try folders.openItem(key.hash) else { return nil }
        defer { environment.fileSystem.close(file) }
        do throws(ItemFormatError) {
            let footer = try ItemReader(file, of: environment.fileSystem, codecs: codecs).footer
            guard footer.metadata.key == key else { throw .damaged(.key) }
            guard !footer.metadata.hasExpired(at: environment.now) else { return nil }
            return (footer.metadata, footer.contentBytes)
        } catch {
            _ = try missed(key, error, of: file, isUse: false)
            return nil
        }
    }

    /// Returns whether there is nothing to download: the item is cached, or its promoted file is in place.
    func contains(_ key: ItemKey) throws(CacheError) -> Bool {
        if let file = try folders.openItem(key.hash) {
            defer { environment.fileSystem.close(file) }
            if try canServe(key, from: file) { return true }
        }
        guard let entry = try promotedEntry(key) else { return false }
        return try isThere(entry)
    }

    /// As far as the footer shows: no chunk is read.
    func canServe(_ key: ItemKey, from file: Descriptor) throws(CacheError) -> Bool {
        do throws(ItemFormatError) {
            let metadata = try ItemReader(file, of: environment.fileSystem, codecs: codecs).footer.metadata
            return metadata.key == key && !metadata.hasExpired(at: environment.now)
        } catch {
            _ = try Miss(error)
            return false
        }
    }

    /// Opens an item, checks its key, and hands a reader to `body`.
    func withItem<Value>(
        _ key: ItemKey, isUse: Bool = true, _ body: (ItemReader) throws(ItemFormatError) -> Value
    ) throws(CacheError) -> Lookup<Value> {
        guard let file = try folders.openItem(key.hash) else {
            catalog.noteAbsent(key.hash)
            return .miss(.absent)
        }
        defer { environment.fileSystem.close(file) }
        do throws(ItemFormatError) {
            let reader = try ItemReader(file, of: environment.fileSystem, codecs: codecs)
            guard reader.footer.metadata.key == key else { throw .damaged(.key) }
            if !reader.footer.metadata.hasExpired(at: environment.now) {
                let value = try body(reader)
                if isUse { catalog.noteHit(key.hash) }
                return .hit(value)
            }
        } catch {
            return .miss(try missed(key, error, of: file, isUse: isUse))
        }
        return .miss(try expired(key, of: file, isUse: isUse))
    }

    /// Counts the miss for an item that has expired, and removes it.
    ///
    /// - Parameters:
    ///   - file: The file that was read, if known: a newer one may have replaced it.
    ///   - isUse: Whether it counts.
    func expired(_ key: ItemKey, of file: Descriptor? = nil, isUse: Bool = true) throws(CacheError) -> Miss {
        let isRemoved = try isChanging { () throws(CacheError) in
            try cachedCopies.remove(key, try identity(of: file), because: .expired)
        }
        if isRemoved { events.send(.expired(key)) }
        // Afterwards: what was missed is known from what has left.
        if isUse { catalog.inMemory { $0.pending.missed(key) } }
        return .expired
    }

    /// Handles an item that cannot be read.
    ///
    /// - Parameters:
    ///   - file: The file that was read, if known: it may have been promoted since, which removes its footer,
    ///     or been replaced.
    ///   - isUse: Whether it counts.
    func missed(
        _ key: ItemKey, _ error: ItemFormatError, of file: Descriptor? = nil, isUse: Bool = true
    ) throws(CacheError) -> Miss {
        let miss = try Miss(error)
        let identity = try identity(of: file)
        guard try isItem(key.hash, identity) else { return .absent }
        switch miss {
        case .absent, .expired: break
        case .purged:
            guard
                try isChanging({ () throws(CacheError) in
                    try cachedCopies.remove(key, identity, because: .purged)
                })
            else { break }
            events.send(.purged(key))
        case .damaged(let error):
            guard try isChanging({ () throws(CacheError) in try moveToQuarantine(key.hash, identity) }) else {
                break
            }
            environment.logger.warning(
                "A damaged item was quarantined.", metadata: ["key": "\(key)", "reason": "\(error)"])
            events.send(.quarantined(key, error))
        case .newerFormat(let version):
            events.send(.newerFormat(key, version: version))
        }
        // Afterwards: what was missed is known from what has left.
        if isUse { catalog.inMemory { $0.pending.missed(key) } }
        return miss
    }

    /// Whether something was changed. Where nothing can be, as on a read-only volume, what is unreadable is a miss all the
    /// same.
    private func isChanging(_ change: () throws(CacheError) -> Bool) throws(CacheError) -> Bool {
        do {
            return try change()
        } catch .fileSystem(let error) where error.isReadOnlyVolume {
            return false
        }
    }

    /// Moves an item's file to the quarantine.
    ///
    /// - Parameter identity: Only this file is moved, unless it is `nil`.
    /// - Returns: Whether the file was there.
    @discardableResult
    func moveToQuarantine(_ hash: KeyHash, _ identity: FileAttributes.Identity?) throws(CacheError) -> Bool {
        try locks.hold(hash) { () throws(CacheError) in
            guard try isItem(hash, identity) else { return false }
            return try catalog.removing(hash) { place throws(CacheError) in
                let row = try quarantine.add(hash)
                catalog.noteQuarantined(hash, row, at: place)
                return row != nil
            }
        }
    }

    private func identity(of file: Descriptor?) throws(CacheError) -> FileAttributes.Identity? {
        guard let file else { return nil }
        return try files.attributes(of: file).identity
    }

    /// Whether the file with this identity is the one under the item's name; `true` without an identity.
    func isItem(_ hash: KeyHash, _ identity: FileAttributes.Identity?) throws(CacheError) -> Bool {
        guard let identity else { return true }
        let items = folders.current.items
        return try files.attributes(of: CacheLayout.file(of: hash), in: items)?.identity == identity
    }
}

extension Data {
    /// Reads a range of an item's content.
    init(reading range: Range<Int64>, of reader: ItemReader) throws(ItemFormatError) {
        guard range.lowerBound >= 0, range.upperBound <= reader.footer.contentBytes else {
            throw .rangeOutOfBounds(range, contentBytes: reader.footer.contentBytes)
        }
        self = try .filled(range.byteCount, orThrow: .fileSystem(Self.noMemory)) {
            buffer throws(ItemFormatError) in
            try reader.read(range, into: buffer)
            return buffer.count
        }
    }

    static let noMemory = FileSystemError("malloc", errno: .noMemory)

    /// Lets `body` fill new memory, without zeroing it first or copying it afterwards.
    ///
    /// - Parameter noMemory: Thrown when there is not enough memory: an item can be longer than that.
    static func filled<Failure: Error>(
        _ count: Int, orThrow noMemory: Failure,
        by body: (UnsafeMutableRawBufferPointer) throws(Failure) -> Int
    ) throws(Failure) -> Data {
        guard count > 0 else { return Data() }
        guard let memory = malloc(count) else { throw noMemory }
        do {
            let filled = try body(UnsafeMutableRawBufferPointer(start: memory, count: count))
            return Data(bytesNoCopy: memory, count: filled, deallocator: .free)
        } catch {
            free(memory)
            throw error
        }
    }
}

extension Range<Int64> {
    /// The number of bytes. `count` would trap where `Int` has 32 bits, and so much memory cannot be had in any case.
    var byteCount: Int { Int(clamping: upperBound - lowerBound) }
}
