@testable import PrefetchCaching

extension JournalEntry {
    /// An entry about an item of 1 KiB.
    static func sample(_ kind: Kind, _ key: String, _ reason: String) -> JournalEntry {
        JournalEntry(
            time: 0, kind: kind, key: key, reason: reason, contentBytes: 1000, chargedBytes: 1024)
    }
}
