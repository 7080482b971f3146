/// Daily sums per source, bounded: see ``bound(today:)``.
struct HistoryRows: Sendable, Equatable {
    struct Place: Hashable, Sendable {
        let day: Int32
        let source: SourceName
    }

    /// Distinct days that are kept apart; older ones become one.
    static let mostDays = 400
    /// Sources that are kept apart; those that were active least recently become one.
    static let mostSources = 1000
    /// Days times sources that are kept apart: of the oldest days, all sources become one.
    static let mostRows = 8192
    /// The day that stands for all that are too old to be kept apart.
    static let earlier = Int32(0)
    /// The source that stands for all that are not kept apart.
    static let others: SourceName = "(others)"
    /// A longer name is cut, in bytes.
    private static let longestName = 128

    private(set) var figures: [Place: PrefetchFigures] = [:]
    private(set) var sources: Set<SourceName> = []

    var isEmpty: Bool { figures.isEmpty }

    mutating func add(_ more: PrefetchFigures, day: Int32, source: SourceName) {
        guard !more.isEmpty else { return }
        let place = Place(day: day, source: admitted(source))
        if let known = figures.index(forKey: place) {
            figures.values[known].add(more)
        } else {
            figures[place] = more
            sources.insert(place.source)
        }
    }

    mutating func add(_ other: HistoryRows) {
        for (place, more) in other.figures { add(more, day: place.day, source: place.source) }
    }

    /// As much of the name of a source as is kept.
    static func kept(_ source: SourceName) -> SourceName {
        SourceName(String(source.text.prefix(bytes: longestName)))
    }

    /// The name under which a source is counted.
    func admitted(_ source: SourceName) -> SourceName {
        let admitted = Self.kept(source)
        return sources.contains(admitted) || sources.count < Self.mostSources ? admitted : Self.others
    }

    /// The sums of each source over all days.
    var bySource: [SourceName: PrefetchFigures] {
        figures.reduce(into: [:]) { sums, row in
            sums[row.key.source, default: PrefetchFigures()].add(row.value)
        }
    }

    var total: PrefetchFigures {
        figures.values.reduce(into: PrefetchFigures()) { $0.add($1) }
    }

    /// Merges what exceeds the bounds. The sums over everything stay the same.
    ///
    /// Days are counted, not subtracted, and days to come count as today: neither a clock that is years ahead nor its
    /// correction moves real days out of the bound.
    mutating func bound(today: Int32) {
        remap { $0.day > today + 1 ? Place(day: today, source: $0.source) : $0 }
        let days = Set(figures.keys.map(\.day)).sorted()
        if days.count > Self.mostDays {
            let oldest = days[days.count - Self.mostDays]
            remap { $0.day < oldest ? Place(day: Self.earlier, source: $0.source) : $0 }
        }
        boundSources()
        guard figures.count > Self.mostRows else { return }
        // More than needed, so that there is room for new ones.
        var excess = figures.count - Self.mostRows * 7 / 8
        var merged: Set<Int32> = []
        for (day, count) in Dictionary(grouping: figures.keys, by: \.day).mapValues(\.count).sorted(by: <) {
            guard excess > 0 else { break }
            merged.insert(day)
            excess -= count - 1
        }
        remap { merged.contains($0.day) ? Place(day: $0.day, source: Self.others) : $0 }
    }

    /// Keeps three quarters of the sources that fit, so that new ones find a place.
    private mutating func boundSources() {
        guard sources.count >= Self.mostSources else { return }
        let activity = figures.reduce(into: [SourceName: (day: Int32, count: Int64)]()) { activity, row in
            let known = activity[row.key.source] ?? (0, 0)
            let uses = row.value[.stored] + row.value[.used]
            activity[row.key.source] = (max(known.day, row.key.day), known.count + uses)
        }
        let ranked = activity.sorted {
            ($0.value.day, $0.value.count, $0.key) > ($1.value.day, $1.value.count, $1.key)
        }
        let kept = Set(ranked.prefix(Self.mostSources * 3 / 4).map(\.key))
        remap { kept.contains($0.source) ? $0 : Place(day: $0.day, source: Self.others) }
    }

    private mutating func remap(_ place: (Place) -> Place) {
        let old = figures
        figures = [:]
        for (key, more) in old { figures[place(key), default: PrefetchFigures()].add(more) }
        sources = Set(figures.keys.map(\.source))
    }
}

/// The name of a source. Two that are only canonically equivalent are two, as in SQL, which compares bytes.
struct SourceName: Sendable {
    let text: String

    init(_ text: String) { self.text = text }
}

extension SourceName: Hashable, Comparable, ExpressibleByStringLiteral {
    init(stringLiteral text: String) { self.text = text }

    static func == (left: SourceName, right: SourceName) -> Bool {
        left.text.utf8.elementsEqual(right.text.utf8)
    }

    static func < (left: SourceName, right: SourceName) -> Bool {
        left.text.utf8.lexicographicallyPrecedes(right.text.utf8)
    }

    func hash(into hasher: inout Hasher) {
        var text = text
        text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
    }
}
