internal import ItemFormat

/// Somebody who waits for an item to be opened, wants to know how far it has come, and may lose interest.
struct OpenWatcher: Sendable {
    /// Stays to the end, and wants to know nothing.
    static let patient = OpenWatcher(hasLeft: { false }, report: nil)

    let hasLeft: @Sendable () -> Bool
    let report: (@Sendable (OpenProgress) -> Void)?

    /// - Throws: ``CacheError/cancelled``.
    func requireInterest() throws(CacheError) {
        if hasLeft() { throw .cancelled }
    }
}

extension OpenWatcher {
    /// The task that this is called in.
    ///
    /// - Parameter report: Is called in the middle of a promotion.
    static func currentTask(_ report: (@Sendable (OpenProgress) -> Void)?) -> OpenWatcher {
        OpenWatcher(hasLeft: { Task.isCancelled }, report: report)
    }
}
