internal import Synchronization

/// Looking after a cache, from its app or from outside. All of it may be done while others use the cache.
extension PrefetchCache {
    /// Reads every byte of every cached item and of every promoted file, and compares checksums, on as many
    /// threads as there are cores.
    ///
    /// It is no use: neither the order of eviction nor the statistics change, and where the system can do that
    /// the access times of files stay. An item is leased while it is being read, and no longer.
    ///
    /// A promoted file whose content is not what was handed over is ``VerificationFinding/Verdict/modified``
    /// when it was replaced, or written to later, by whomever; only one that nobody is known to have written to is
    /// ``VerificationFinding/Verdict/damaged``. It is never changed.
    ///
    /// Cancelling the task ends the verification early, with what it has found until then.
    ///
    /// - Parameter progress: Is called for about every mebibyte, from several threads, which wait for it.
    /// - Throws: ``CacheError/fileSystem(_:)`` and ``CacheError/database(name:message:)`` when the files cannot be listed,
    ///   or a damaged one cannot be set aside. One that cannot be read is a finding.
    /// - Complexity: O(n) in the bytes. Memory does not depend on the number of items, nor on their size.
    public func verify(
        _ request: VerificationRequest = VerificationRequest(),
        progress: (@Sendable (VerificationProgress) -> Void)? = nil
    ) async throws(CacheError) -> VerificationReport {
        let interest = Interest()
        let result = await withTaskCancellationHandler {
            await Result.of { () async throws(CacheError) in
                try await self.run { engine throws(CacheError) in
                    try Verifier(engine, request, isCancelled: { interest.isLost }, report: progress).run()
                }
            }
        } onCancel: {
            interest.lose()
        }
        return try result.get()
    }

    /// Removes promoted files that are excluded from backups and that nobody has used for long. Backups are spared
    /// such files because they can be downloaded again, and so it is the app that has to see to their number.
    ///
    /// A file is used when it is opened through the cache, read, or written to: what counts is the latest of the
    /// moment when it was handed over, of its modification and of its last access. Where a volume keeps no
    /// access times, ``open(_:progress:)-(ItemKey,_)`` notes them itself for excluded files, once a day at most.
    ///
    /// Only a file goes that is still just what was handed over, byte for byte: one that its user has changed,
    /// replaced or moved stays. The record of the promotion goes after it, and its key is then like any other: it may
    /// be stored again, and opened.
    ///
    /// - Parameters:
    ///   - unusedSince: In milliseconds since 1970. What was used then or later stays.
    ///   - dryRun: Whether it is only told what would go now, and nothing does.
    /// - Throws: ``CacheError/fileSystem(_:)``, ``CacheError/destination(_:_:)`` and
    ///   ``CacheError/database(name:message:)``. What went before is gone.
    /// - Complexity: O(n) in the promotions; the files that go are read once.
    @discardableResult
    public func purgeExcluded(unusedSince: Int64, dryRun: Bool = false) async throws(CacheError)
        -> PurgeReport
    {
        try await run { engine throws(CacheError) in
            try engine.purgeExcluded(unusedSince: unusedSince, isDryRun: dryRun)
        }
    }

    /// Puts right what crashes, other programs and restored backups may have left: interrupted promotions are
    /// settled; staged files and partials that nobody goes on with, emptied items, and damaged ones that were set
    /// aside are removed; the catalog is made to fit the items, and its sums its rows; excluded files get a
    /// lost mark again.
    ///
    /// Nothing that is not the cache's is touched, and no promoted file but for its mark. Much of this happens by
    /// itself, when a cache is opened or while it is used; to have it reported, open the cache with
    /// ``init(areas:environment:isSettling:)``. The content of items is not read, see ``verify(_:progress:)``.
    ///
    /// - Parameter dryRun: Whether it is only told what would be done, and nothing is.
    /// - Returns: What was done, file by file, and what could not be.
    /// - Throws: ``CacheError/database(name:message:)`` when the catalog cannot be written in the end.
    /// - Complexity: O(n) in the items, each of which is looked at, and opened when its row does not fit.
    @discardableResult
    public func repair(dryRun: Bool = false) async throws(CacheError) -> RepairReport {
        try await run { engine throws(CacheError) in try engine.repair(isDryRun: dryRun) }
    }

    /// Takes the files of a folder into the cache, such as the cache of another library, or downloads that an app
    /// kept in Documents. Each file's key is its path below the folder, behind a prefix.
    ///
    /// A file that becomes an item goes from the folder when the item is durable. One that becomes a file of the
    /// user's is renamed on its volume, or copied to another one and then removed, and is as good as opened: the
    /// ledger knows it. Nothing is overwritten: where a name is taken by other content, the file gets the next free
    /// one. No item makes way for another. What stays is told with its reason.
    ///
    /// This can be killed at any moment and run again. No content is lost, and in the end none is in two places.
    /// Folders stay, also when they have become empty.
    ///
    /// - Parameters:
    ///   - dryRun: Whether it is only told what would be done, and nothing is.
    ///   - report: Is called for each file, on a thread of the cache, which waits for it.
    /// - Throws: ``CacheError/fileSystem(_:)`` when the folder, or one in it, cannot be listed;
    ///   ``CacheError/destination(_:_:)`` when an interrupted promotion cannot be settled.
    /// - Complexity: O(n) in the bytes.
    public func migrate(
        _ request: MigrationRequest, dryRun: Bool = false, report: @Sendable (MigratedFile) -> Void
    ) async throws(CacheError) {
        try await run { engine throws(CacheError) in
            try Migrator(engine: engine, request: request, isDryRun: dryRun).run(report)
        }
    }
}

/// Whether somebody still wants the result of work that several threads do.
private final class Interest: Sendable {
    private let lost = Atomic<Bool>(false)

    var isLost: Bool { lost.load(ordering: .relaxed) }

    func lose() { lost.store(true, ordering: .relaxed) }
}

extension Result {
    /// What comes of a body, for callers that lose the type of an error.
    fileprivate static func of(_ body: () async throws(Failure) -> Success) async -> Result {
        do {
            return .success(try await body())
        } catch {
            return .failure(error)
        }
    }
}
