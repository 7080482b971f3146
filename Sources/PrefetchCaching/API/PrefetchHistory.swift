public import Foundation

/// What prefetching did and was worth, by day and source.
///
/// The history outlives purges and updates. It holds days apart for 400 days and sources apart up to 1,000; what is beyond
/// that is merged, so that the sums over everything stay right. A process that is killed takes the last second along.
public struct PrefetchHistory: Hashable, Sendable {
    /// The figures of one source on one day.
    public struct Row: Hashable, Sendable {
        /// The start of the day, in UTC; 1970 for all days that are too old to be kept apart.
        public let day: Date
        /// The feed or server; empty if none was given, and `(others)` for those that are not kept apart.
        public let source: String
        /// The sums of the day. Those about storing, and those named `…OfDay`, are about the items stored on it.
        public let figures: PrefetchFigures
    }

    /// By day and source.
    public let rows: [Row]

    init(_ rows: HistoryRows, since first: Int32?) {
        self.rows = rows.figures.filter { first == nil || $0.key.day >= first ?? 0 }
            .sorted { ($0.key.day, $0.key.source) < ($1.key.day, $1.key.source) }
            .map { place, figures in
                Row(
                    day: Date(timeIntervalSince1970: Double(place.day) * 86400), source: place.source.text,
                    figures: figures)
            }
    }

    /// The sums over all rows.
    public var total: PrefetchFigures { rows.reduce(into: PrefetchFigures()) { $0.add($1.figures) } }

    /// The sums of each source, by name.
    public var bySource: [(source: String, figures: PrefetchFigures)] {
        sums { SourceName($0.source) }.map { (source: $0.text, figures: $1) }
    }

    /// The sums of each day, oldest first.
    public var byDay: [(day: Date, figures: PrefetchFigures)] {
        sums(by: \.day).map { (day: $0, figures: $1) }
    }

    /// The sums of each week, which begins on Monday, oldest first.
    public var byWeek: [(day: Date, figures: PrefetchFigures)] {
        sums { row in
            // 1 January 1970 was a Thursday.
            let day = Int(row.day.timeIntervalSince1970 / 86400)
            return Date(timeIntervalSince1970: Double(day - (day + 3) % 7) * 86400)
        }.map { (day: $0, figures: $1) }
    }

    private func sums<Key: Hashable & Comparable>(by key: (Row) -> Key) -> [(Key, PrefetchFigures)] {
        rows.reduce(into: [Key: PrefetchFigures]()) { sums, row in
            sums[key(row), default: PrefetchFigures()].add(row.figures)
        }.sorted { $0.key < $1.key }
    }
}
