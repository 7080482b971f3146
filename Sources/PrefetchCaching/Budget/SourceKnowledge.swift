/// What the history says about the sources of items.
struct SourceKnowledge: Sendable {
    private struct Source: Sendable {
        var stored: Int64 = 0
        var storedBytes: Int64 = 0
    }

    private var sources: [String: Source] = [:]

    init(_ rows: HistoryRows) {
        for (source, figures) in rows.bySource {
            sources[source] = Source(stored: figures[.stored], storedBytes: figures[.storedBytes])
        }
    }

    /// The mean length of a source's items in bytes of content; `nil` if nothing is known.
    func usualLength(of source: String) -> Int64? {
        sources[source].flatMap { $0.stored > 0 ? $0.storedBytes / $0.stored : nil }
    }
}
