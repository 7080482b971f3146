@testable import PrefetchCaching

/// A record of the journal of events.
func fuzzEvents(_ input: [UInt8]) throws {
    let entries: [JournalEntry]
    do {
        entries = try JournalRecord.entries(decoding: input)
    } catch is MalformedRecord {
        return
    }
    try require(entries.count <= input.count, "each entry takes a byte")
    let short = entries.map { entry in
        var entry = entry
        (entry.key, entry.source) = (JournalEntry.kept(entry.key), JournalEntry.kept(entry.source))
        entry.reason = JournalEntry.kept(entry.reason)
        return entry
    }
    try require(
        JournalRecord.entries(decoding: JournalRecord.encoded(short)) == short, "it can be written again")
}
