public import Foundation
internal import PrefetchItemFormat
internal import Synchronization

/// Maintaining a cache, from its app or from another process. Other tasks and processes may use the cache
/// meanwhile.
extension PrefetchCache {
    /// Reads every byte of every cached item and of every promoted file, and compares checksums, using all
    /// threads of ``CacheEnvironment/parallelism``.
    ///
    /// It does not count as a use: neither the order of eviction nor the statistics change, and access times
    /// are preserved where the system allows it. An item cannot be evicted while it is being read.
    ///
    /// A promoted file whose content differs from what was promoted is ``VerificationFinding/Verdict/modified`` if it
    /// has been replaced or written to since, and ``VerificationFinding/Verdict/damaged(_:)`` if there is no sign
    /// of either. Promoted files are never changed.
    ///
    /// Cancelling the task or suspending the cache ends the verification early. It then returns what it has found so
    /// far, with ``VerificationReport/isComplete`` set to `false`.
    ///
    /// - Parameters:
    ///   - request: How many files to verify, and whether to quarantine what is damaged; by default all, changing nothing.
    ///   - progress: Called about once per mebibyte read, from several threads, which wait for it.
    /// - Throws: An error when the promotions cannot be listed, or a damaged item cannot be moved to the quarantine. A
    ///   file or folder that cannot be read is a finding.
    /// - Complexity: O(n) in the bytes. Memory depends neither on the number of items nor on their size.
    public func verify(
        _ request: VerificationRequest = VerificationRequest(),
        progress: (@Sendable (VerificationProgress) -> Void)? = nil
    ) async throws(CacheError) -> VerificationReport {
        let flag = CancellationFlag()
        let result = await withTaskCancellationHandler {
            await Result.of { () async throws(CacheError) in
                try await self.run { engine throws(CacheError) in
                    try Verifier(
                        engine, request,
                        isCancelled: { flag.isCancelled || engine.usage.isSuspended }, report: progress
                    ).run()
                }
            }
        } onCancel: {
            flag.cancel()
        }
        return try result.get()
    }

    /// Removes promoted files that are excluded from backups and have not been used since a given time.
    /// Backups omit such files because they can be downloaded again, so the app has to limit their number
    /// itself.
    ///
    /// A file's last use is the latest of its promotion, its modification and its last access. Since many volumes do
    /// not record accesses, ``open(_:progress:)-(ItemKey,_)`` records them for excluded files, at most once a day.
    ///
    /// A file is removed only if it is still byte for byte what was promoted, and no other key was promoted to the same
    /// file; one that the user has changed, replaced or moved stays. The record of its promotion is removed with it, so
    /// its key can be stored and opened again.
    ///
    /// Cancelling the task has no effect.
    ///
    /// - Parameters:
    ///   - unusedSince: Files used then or later stay.
    ///   - dryRun: If `true`, only reports what would be removed.
    /// - Throws: An error when the promotions cannot be listed. A file that cannot be read or removed is part of the
    ///   report, and the others are processed.
    /// - Complexity: O(n) in the promotions, and once more for each file that is removed. Each file that qualifies
    ///   is read once.
    @discardableResult
    public func purgeExcluded(unusedSince: Date, dryRun: Bool = false) async throws(CacheError)
        -> PurgeReport
    {
        try await purgeExcluded(unusedSinceMilliseconds: unusedSince.milliseconds, dryRun: dryRun)
    }

    package func purgeExcluded(unusedSinceMilliseconds: Int64, dryRun: Bool) async throws(CacheError)
        -> PurgeReport
    {
        try await run { engine throws(CacheError) in
            try engine.purgeExcluded(unusedSince: unusedSinceMilliseconds, isDryRun: dryRun)
        }
    }

    /// Repairs the effects of crashes, other programs and restored backups. It resolves interrupted promotions; removes
    /// abandoned staged files, unusable partials, emptied items and quarantined items; reconciles the catalog's rows
    /// with the items and its sums with its rows; and restores lost backup marks of excluded files.
    ///
    /// Nothing outside the cache is touched, except for the backup marks of promoted files. Much of this also happens
    /// automatically when a cache is opened or used; to have it reported, open the cache with
    /// ``init(areas:environment:isRecovering:)``. Only the footers of items are read; use ``verify(_:progress:)`` for
    /// their content.
    ///
    /// Cancelling the task has no effect.
    ///
    /// - Parameters:
    ///   - dryRun: If `true`, only reports what would be done.
    ///   - keepingQuarantined: Whether quarantined items stay, for somebody to look at. They count against the budget, and
    ///     are evicted before any other item.
    /// - Returns: Every repair, file by file, and what could not be repaired.
    /// - Throws: An error when the catalog cannot be written at the end. All others are part of the report.
    /// - Complexity: O(n) in the items, each of which is opened.
    @discardableResult
    public func repair(dryRun: Bool = false, keepingQuarantined: Bool = false) async throws(CacheError)
        -> RepairReport
    {
        try await run { engine throws(CacheError) in
            try engine.repair(isDryRun: dryRun, keepingQuarantined: keepingQuarantined)
        }
    }

    /// Imports the files of a folder into the cache, such as the cache of another library, or downloads that an app
    /// kept in Documents. The key of a file is ``MigrationRequest/keyPrefix`` followed by its path below the folder.
    ///
    /// A file that becomes an item is removed from the folder once the item is durable. A file that becomes a
    /// promoted file is renamed if it stays on its volume, otherwise copied and then removed; the ledger
    /// records it as if it had been opened. Nothing is overwritten: where a name is taken by other content,
    /// the file gets the next free one. No other item is evicted. Each file that stays is reported with its
    /// reason.
    ///
    /// The migration can be interrupted at any moment and run again: no content is lost, and in the end none
    /// is in two places. Folders stay, even when they have become empty. Cancelling the task has no effect. Suspending the
    /// cache interrupts it between two files; when the cache is resumed it begins again, and what stays is reported again.
    ///
    /// - Parameters:
    ///   - request: The folder, and what becomes of its files.
    ///   - dryRun: If `true`, only reports what would be done.
    ///   - report: Called for each file, on a thread of the cache, which waits for it.
    /// - Throws: ``CacheError/fileSystem(_:)`` when the folder cannot be listed; ``CacheError/destination(_:_:)`` or
    ///   ``CacheError/destinationUnavailable(_:)`` when an interrupted promotion cannot be resolved. A failure of one
    ///   file, or of a folder below, is reported.
    /// - Complexity: O(n) in the bytes.
    public func migrate(
        _ request: MigrationRequest, dryRun: Bool = false, report: @Sendable (MigratedFile) -> Void
    ) async throws(CacheError) {
        try await run { engine throws(CacheError) in
            try Migrator(engine: engine, request: request, isDryRun: dryRun).run(report)
        }
    }
}

/// Tells work that runs on several threads whether its task was cancelled.
private final class CancellationFlag: Sendable {
    private let cancelled = Atomic<Bool>(false)

    var isCancelled: Bool { cancelled.load(ordering: .relaxed) }

    func cancel() { cancelled.store(true, ordering: .relaxed) }
}

extension Result {
    /// Keeps the typed error, which `withTaskCancellationHandler` would erase.
    fileprivate static func of(_ body: () async throws(Failure) -> Success) async -> Result {
        do {
            return .success(try await body())
        } catch {
            return .failure(error)
        }
    }
}
