internal import PrefetchFileSystem
internal import PrefetchItemFormat
internal import PrefetchStorageAreas
internal import SystemPackage

/// Files that become items.
extension Migrator {
    func store(_ original: Original) throws(CacheError) -> MigratedFile.Outcome {
        if try engine.promotedEntry(original.key) != nil { return .left(.keyIsTaken) }
        return try withOriginal(original) { opened throws(CacheError) in
            try exclusively(with: original, opened) { () throws(CacheError) in try store(original, opened) }
        }
    }

    private func store(_ original: Original, _ opened: OpenOriginal) throws(CacheError)
        -> MigratedFile.Outcome
    {
        var metadata = ItemMetadata(
            key: original.key, source: request.source, destination: original.destination)
        guard try engine.cachedCopies.isThere(original.key) else {
            return try store(original, opened, as: metadata)
        }
        let outcome = try withSameItem(original, opened) { _, known in
            // An expired item cannot be opened, so its metadata is not kept.
            if !known.hasExpired(at: engine.environment.now) { metadata = known }
            return .merged(.item(original.key.hash))
        }
        // Written again: if an earlier flush failed, the next one succeeds although the content is lost.
        switch outcome {
        case .merged:
            let stored = try store(original, opened, as: metadata)
            guard case .stored(let place) = stored else { return stored }
            return .merged(place)
        case .left(.failed(.item(let error))) where error.isLoss:
            // Torn by a power cut before it was flushed.
            if !isDryRun { _ = try engine.missed(original.key, error) }
            return try store(original, opened, as: metadata)
        default: return outcome
        }
    }

    private func store(_ original: Original, _ opened: OpenOriginal, as metadata: ItemMetadata)
        throws(CacheError) -> MigratedFile.Outcome
    {
        let length = opened.attributes.length
        if let obstacle = try intake.obstacle(to: metadata, length: length) { return .left(obstacle) }
        guard !isDryRun else { return .stored(.item(original.key.hash)) }
        if let obstacle = try intake.store(opened.file, length: length, as: metadata) {
            return .left(obstacle)
        }
        guard try isUnchanged(original, opened) else {
            _ = try engine.remove(original.key)
            return .left(.changed)
        }
        return try withSameItem(original, opened) { item, _ throws(CacheError) in
            try flush(item, of: original.key.hash)
            if try drop(original, opened) { return .stored(.item(original.key.hash)) }
            _ = try engine.remove(original.key)
            return .left(.changed)
        }
    }

    /// Calls `body` with the open item if it is sound and holds exactly the content of the original.
    private func withSameItem(
        _ original: Original, _ opened: OpenOriginal,
        _ body: (Descriptor, ItemMetadata) throws(CacheError) -> MigratedFile.Outcome
    ) throws(CacheError) -> MigratedFile.Outcome {
        guard let item = try engine.folders.openItem(original.key.hash) else { return .left(.changed) }
        defer { fileSystem.close(item) }
        let footer: ItemFooter
        do {
            let reader = try ItemReader(item, of: fileSystem, codecs: engine.codecs)
            footer = reader.footer
            guard footer.metadata.key == original.key, footer.contentBytes == opened.attributes.length else {
                return .left(.keyIsTaken)
            }
            var pieces = try reader.pieces(of: 0..<footer.contentBytes)
            while try pieces.next() != nil {}
        } catch {
            return .left(.failed(.item(error)))
        }
        do {
            guard try checksum(of: opened.file) == footer.contentChecksum else { return .left(.keyIsTaken) }
        } catch {
            return .left(.failed(error))
        }
        return try body(item, footer.metadata)
    }

    /// Stores are usually not flushed, but here the original is removed afterwards.
    private func flush(_ item: Descriptor, of hash: KeyHash) throws(CacheError) {
        try onFiles { () throws(FileSystemError) in
            try fileSystem.synchronize(item)
            let (items, name) = (engine.folders.current.items, CacheLayout.folder(of: hash))
            if let folder = try items.open(name) { try fileSystem.synchronize(folder.descriptor) }
            let caches = engine.folders.areas.caches.pushing(CacheLayout.root)
            try durableNames.flush(caches.pushing(CacheLayout.items).pushing(name), in: fileSystem)
        }
    }
}

extension ItemFormatError {
    /// Whether the content is irrecoverable.
    fileprivate var isLoss: Bool {
        switch self {
        case .purged, .damaged: true
        default: false
        }
    }
}

/// Where the items of a migration are stored: in the cache, or on the simulated disk of a test, which has no
/// catalog.
protocol ItemIntake {
    /// Returns why a file of that length, in bytes, would not be stored; `nil` when it may be.
    func obstacle(to metadata: ItemMetadata, length: Int64) throws(CacheError) -> MigratedFile.Obstacle?

    /// - Returns: Why the file was not stored; `nil` when it was.
    func store(_ file: Descriptor, length: Int64, as metadata: ItemMetadata) throws(CacheError)
        -> MigratedFile.Obstacle?
}

struct CacheIntake: ItemIntake {
    let engine: Engine

    /// Nothing is evicted for a migration, least of all items that it imported before: their originals are gone.
    func obstacle(to metadata: ItemMetadata, length: Int64) throws(CacheError) -> MigratedFile.Obstacle? {
        let report = try engine.capacity()
        if let refusal = report.refusal { return .refused(refusal) }
        let needed = engine.charge(
            storedBytes: ItemFooter.storedBytesBound(contentBytes: length, metadata: metadata))
        let used = report.chargedBytes + report.heldBytes + report.catalogBytes
        let (sum, overflow) = used.addingReportingOverflow(needed)
        guard overflow || sum > Watermarks.high(report.ceilingBytes) else { return nil }
        return .refused(.overBudget(needed: needed, budget: report.ceilingBytes))
    }

    func store(_ file: Descriptor, length: Int64, as metadata: ItemMetadata) throws(CacheError)
        -> MigratedFile.Obstacle?
    {
        switch try engine.store(file, length, as: metadata) {
        case .refused(let refusal): .refused(refusal)
        case .delivered: .keyIsTaken
        case .stored: nil
        }
    }
}
