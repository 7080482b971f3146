internal import FileSystem
internal import ItemFormat

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

    /// Nothing is evicted for a migration, least of all items that it took in before: their originals are
    /// gone.
    func obstacle(to metadata: ItemMetadata, length: Int64) throws(CacheError) -> MigratedFile.Obstacle? {
        let report = try engine.capacity()
        if let refusal = report.refusal { return .refused(refusal) }
        let needed = engine.charge(
            storedLength: ItemFooter.storedLengthBound(contentLength: length, metadata: metadata))
        let used = report.chargedBytes + report.heldBytes + report.catalogBytes
        let (sum, overflow) = used.addingReportingOverflow(needed)
        guard overflow || sum > Trimming.start(report.ceilingBytes) else { return nil }
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
