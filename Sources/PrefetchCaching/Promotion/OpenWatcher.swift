internal import PrefetchItemFormat

/// Observes the opening of an item: receives its progress, and may cancel it.
struct OpenWatcher: Sendable {
    /// Never cancels, and ignores progress.
    static let never = OpenWatcher(isCancelled: { false }, report: nil)

    let isCancelled: @Sendable () -> Bool
    let report: (@Sendable (OpenProgress) -> Void)?
    /// That of the cache, whose suspension interrupts the opening.
    var usage: Usage?

    /// - Throws: ``CacheError/cancelled`` and ``CacheError/suspended``.
    func checkCancellation() throws(CacheError) {
        if isCancelled() { throw .cancelled }
        try usage?.requireNotSuspended()
    }
}

extension OpenWatcher {
    /// Observes for the current task, whose cancellation cancels the opening.
    ///
    /// - Parameter report: Called in the middle of a promotion.
    static func currentTask(_ report: (@Sendable (OpenProgress) -> Void)?, _ usage: Usage) -> OpenWatcher {
        OpenWatcher(isCancelled: { Task.isCancelled }, report: report, usage: usage)
    }
}
