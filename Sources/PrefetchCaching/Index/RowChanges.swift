internal import PrefetchItemFormat

/// What one transaction changes about the items, for the figures: an item arrives with its row, and leaves with it, so
/// that all processes together count each once.
final class RowChanges {
    private(set) var events: [UsageEvent] = []
    /// Whether the rows of items are being found again rather than written for the first time.
    var isRebuilding = false

    func note(_ event: UsageEvent) {
        if !isRebuilding { events.append(event) }
    }

    /// Drops what was noted after `count` events, since it was rolled back.
    func forget(after count: Int) { events.removeLast(events.count - count) }
}
