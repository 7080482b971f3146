@testable import PrefetchCaching

/// The figures of a cache, counted from what was done to it: of every item it is known whether it is there, and whether it
/// was used.
struct ModelledFigures {
    struct Item {
        let source: String
        let bytes: Int64
        let expiresAt: Int64?
        var isUsed = false
        /// Its file was taken away or damaged, which nobody has noticed yet.
        var isSpoilt: Departure?

        func hasExpired(at time: Int64) -> Bool { expiresAt.map { $0 <= time } ?? false }
    }

    private(set) var sums: [String: PrefetchFigures] = [:]
    /// What a killed process may have taken along: as much less may be counted.
    private(set) var slack: [String: PrefetchFigures] = [:]
    var items: [String: Item] = [:]
    /// The sources of the keys that the user has files of.
    private(set) var promoted: [String: String] = [:]
    /// The sources of the keys of which an item left unused.
    private var departed: [String: String] = [:]

    mutating func add(_ count: Int64 = 1, to metric: PrefetchFigures.Metric, of source: String) {
        sums[source, default: PrefetchFigures()].add(count, to: metric)
    }

    mutating func mayLose(_ count: Int64, _ metric: PrefetchFigures.Metric, of source: String) {
        slack[source, default: PrefetchFigures()].add(count, to: metric)
    }

    mutating func store(_ key: String, _ item: Item) {
        if items[key] != nil { leave(key, because: .replaced) }
        items[key] = item
        add(to: .stored, of: item.source)
        add(item.bytes, to: .storedBytes, of: item.source)
    }

    mutating func deliver(_ key: String, from source: String, bytes: Int64) {
        promoted[key] = source
        add(to: .delivered, of: source)
        add(bytes, to: .deliveredBytes, of: source)
    }

    mutating func read(_ key: String) {
        guard let item = items[key] else { return }
        add(to: .read, of: item.source)
        use(key)
    }

    private mutating func use(_ key: String) {
        guard let item = items[key], !item.isUsed else { return }
        items[key]?.isUsed = true
        add(to: .used, of: item.source)
        add(item.bytes, to: .usedBytes, of: item.source)
    }

    mutating func open(_ key: String) {
        use(key)
        if let item = items[key] { promoted[key] = item.source }
        leave(key, because: .opened)
    }

    mutating func leave(_ key: String, because reason: Departure) {
        guard let item = items.removeValue(forKey: key) else { return }
        add(to: reason.items, of: item.source)
        if reason == .opened { add(item.bytes, to: reason.bytes, of: item.source) }
        guard !item.isUsed else { return }
        add(to: .wasted, of: item.source)
        add(item.bytes, to: .wastedBytes, of: item.source)
        if reason != .replaced { departed[key] = item.source }
    }

    /// A key was looked for and not found.
    ///
    /// - Parameter time: Now, in milliseconds since 1970.
    mutating func miss(_ key: String, at time: Int64) {
        if let item = items[key] {
            // Of a damaged item that has expired, nobody looks at the content any more.
            let hasExpired = item.isSpoilt != .purged && item.hasExpired(at: time)
            leave(key, because: hasExpired ? .expired : item.isSpoilt ?? .purged)
        }
        add(to: .missed, of: departed[key] ?? "")
    }

    /// Everything has gone, and with it what the cache remembers of what had left before.
    mutating func purge() {
        for key in items.keys { leave(key, because: .purged) }
        departed = [:]
    }

    var total: PrefetchFigures { sums.values.reduce(into: PrefetchFigures()) { $0.add($1) } }
}
