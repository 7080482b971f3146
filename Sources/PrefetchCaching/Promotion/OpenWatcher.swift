internal import PrefetchItemFormat

/// Observes the opening of an item: receives its progress, and may cancel it.
struct OpenWatcher: Sendable {
    /// Never cancels, and wants no progress.
    static let patient = OpenWatcher(hasLeft: { false }, report: nil)

    let hasLeft: @Sendable () -> Bool
    let report: (@Sendable (OpenProgress) -> Void)?

    /// - Throws: ``CacheError/cancelled``.
    func requireInterest() throws(CacheError) {
        if hasLeft() { throw .cancelled }
    }
}

extension OpenWatcher {
    /// Observes for the current task, whose cancellation cancels the opening.
    ///
    /// - Parameter report: Called in the middle of a promotion.
    static func currentTask(_ report: (@Sendable (OpenProgress) -> Void)?) -> OpenWatcher {
        OpenWatcher(hasLeft: { Task.isCancelled }, report: report)
    }
}
