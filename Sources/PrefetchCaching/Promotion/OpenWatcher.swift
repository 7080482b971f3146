internal import PrefetchItemFormat

/// Observes the opening of an item: receives its progress, and may cancel it.
struct OpenWatcher: Sendable {
    /// Never cancels, and ignores progress.
    static let never = OpenWatcher(isCancelled: { false }, report: nil)

    let isCancelled: @Sendable () -> Bool
    let report: (@Sendable (OpenProgress) -> Void)?

    /// - Throws: ``CacheError/cancelled``.
    func checkCancellation() throws(CacheError) {
        if isCancelled() { throw .cancelled }
    }
}

extension OpenWatcher {
    /// Observes for the current task, whose cancellation cancels the opening.
    ///
    /// - Parameter report: Called in the middle of a promotion.
    static func currentTask(_ report: (@Sendable (OpenProgress) -> Void)?) -> OpenWatcher {
        OpenWatcher(isCancelled: { Task.isCancelled }, report: report)
    }
}
