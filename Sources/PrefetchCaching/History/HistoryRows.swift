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
        SourceName(source.text.prefix(bytes: longestName))
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
    mutating func bound(today: Int32, rows mostRows: Int = Self.mostRows) {
        remap { $0.day > today + 1 ? Place(day: today, source: $0.source) : $0 }
        let days = Set(figures.keys.map(\.day)).sorted()
        if days.count > Self.mostDays {
            let oldest = days[days.count - Self.mostDays]
            remap { $0.day < oldest ? Place(day: Self.earlier, source: $0.source) : $0 }
        }
        boundSources()
        var excess = figures.count - mostRows
        guard excess > 0 else { return }
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

/// The stored form: the names of the sources, then for each row the day, the number of its source, and pairs of metric
/// and sum. All numbers have variable length (LEB128), signed ones in zigzag order.
extension HistoryRows {
    var encoded: [UInt8] {
        var bytes: [UInt8] = []
        let places = figures.sorted { ($0.key.day, $0.key.source) < ($1.key.day, $1.key.source) }
        let names = Set(places.map(\.key.source)).sorted()
        let numbers = Dictionary(uniqueKeysWithValues: zip(names, names.indices))
        bytes.append(number: UInt64(names.count))
        for name in names { bytes.append(text: name.text) }
        bytes.append(number: UInt64(places.count))
        for (place, figures) in places {
            bytes.append(number: UInt64(numbers[place.source] ?? 0))
            bytes.append(signed: Int64(place.day))
            let sums = figures.all
            bytes.append(number: UInt64(sums.count))
            for (metric, value) in sums {
                bytes.append(number: UInt64(metric.rawValue))
                bytes.append(signed: value)
            }
        }
        return bytes
    }

    /// Adds the rows of several records.
    mutating func add(decoding records: [[UInt8]]) {
        for record in records {
            do {
                try add(decoding: record)
            } catch {
                // Its checksum matches, so a version that writes differently has made it.
                continue
            }
        }
    }

    /// Adds rows in their stored form, all or none.
    ///
    /// - Throws: ``MalformedRecord``.
    mutating func add(decoding bytes: [UInt8]) throws {
        var rest = bytes[...]
        var names: [SourceName] = []
        for _ in 0..<(try rest.number(atMost: UInt64(bytes.count))) {
            names.append(SourceName(try rest.text()))
        }
        var rows: [(day: Int32, source: Int, figures: PrefetchFigures)] = []
        for _ in 0..<(try rest.number(atMost: UInt64(bytes.count))) {
            let number = Int(try rest.number(atMost: UInt64(bytes.count)))
            guard names.indices.contains(number), let day = Int32(exactly: try rest.signed()) else {
                throw MalformedRecord()
            }
            var figures = PrefetchFigures()
            for _ in 0..<(try rest.number(atMost: 256)) {
                let metric = try rest.number(atMost: 255)
                let value = try rest.signed()
                // A metric of a newer version is passed over.
                if let metric = PrefetchFigures.Metric(rawValue: UInt8(metric)) {
                    figures.add(value, to: metric)
                }
            }
            rows.append((day, number, figures))
        }
        guard rest.isEmpty else { throw MalformedRecord() }
        for row in rows { add(row.figures, day: row.day, source: names[row.source]) }
    }
}
