internal import FileSystem
internal import ItemFormat
internal import StorageAreas
internal import SystemPackage

/// Files that become items.
extension Migrator {
    func store(_ original: Original) throws(CacheError) -> MigratedFile.Outcome {
        if try engine.promotedEntry(original.key) != nil { return .left(.keyIsTaken) }
        return try withOriginal(original) { opened throws(CacheError) in
            if try promoter.hasCachedCopy(original.key) { return try merge(original, opened) }
            var metadata = ItemMetadata(
                key: original.key, source: request.source, destination: original.destination)
            metadata.storedAt = engine.environment.now()
            if let refusal = try refusal(of: metadata, opened.attributes.length) {
                return .left(.refused(refusal))
            }
            guard !isDryRun else { return .stored(.item(original.key.hash)) }
            switch try engine.store(opened.file, opened.attributes.length, as: metadata) {
            case .refused(let refusal): return .left(.refused(refusal))
            case .delivered: return .left(.keyIsTaken)
            case .stored:
                guard try isUnchanged(original, opened) else {
                    _ = try engine.remove(original.key)
                    return .left(.changed)
                }
                guard case .merged(let place) = try merge(original, opened) else { return .left(.changed) }
                return .stored(place)
            }
        }
    }

    /// Others do not make way for what is taken in, least of all what was taken in before it: its original is gone.
    private func refusal(of metadata: ItemMetadata, _ length: Int64) throws(CacheError) -> Refusal? {
        let report = try engine.capacity()
        if let refusal = report.refusal { return refusal }
        let needed = engine.charge(
            storedLength: ItemFooter.storedLengthBound(contentLength: length, metadata: metadata))
        let used = report.chargedBytes + report.heldBytes + report.catalogBytes
        let (sum, overflow) = used.addingReportingOverflow(needed)
        guard overflow || sum > Trimming.start(report.ceilingBytes) else { return nil }
        return .overBudget(needed: needed, budget: report.ceilingBytes)
    }

    /// Removes a file that is an item already, when the item holds just its content, whole and durable.
    private func merge(_ original: Original, _ opened: OpenOriginal) throws(CacheError)
        -> MigratedFile.Outcome
    {
        guard let item = try engine.folders.openItem(original.key.hash) else { return .left(.changed) }
        defer { fileSystem.close(item) }
        do throws(ItemFormatError) {
            let reader = try ItemReader(item, of: fileSystem, codecs: engine.codecs)
            let footer = reader.footer
            guard footer.metadata.key == original.key, footer.contentLength == opened.attributes.length else {
                return .left(.keyIsTaken)
            }
            try reader.stream(0..<footer.contentLength) { _ in }
            do throws(CacheError) {
                guard try checksum(of: opened.file) == footer.contentChecksum else {
                    return .left(.keyIsTaken)
                }
            } catch {
                return .left(.failed(error))
            }
        } catch {
            return .left(.failed(.item(error)))
        }
        let place = AreaPath.item(original.key.hash)
        if isDryRun { return .merged(place) }
        // Stores are not flushed; but what they are made of here cannot be had again by reading it once more.
        try onFiles { () throws(FileSystemError) in
            try fileSystem.synchronize(item)
            let (items, name) = (engine.folders.current.items, CacheLayout.folder(of: original.key.hash))
            if let folder = try items.open(name) { try fileSystem.synchronize(folder.descriptor) }
            let caches = engine.folders.areas.caches.pushing(CacheLayout.root)
            try durableNames.flush(caches.pushing(CacheLayout.items).pushing(name), in: fileSystem)
        }
        return try drop(original, opened) ? .merged(place) : .left(.changed)
    }
}
