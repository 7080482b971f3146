import Contenders

/// What this project has set itself, and whether a run held it.
struct Target {
    let name: String
    /// As measured: how many times as long as the measure, or as fast as somebody else.
    let figure: Double
    let bound: Bound

    enum Bound {
        case atMost(Double)
        case atLeast(Double)
    }

    var isHeld: Bool {
        switch bound {
        case .atMost(let most): figure <= most
        case .atLeast(let least): figure >= least
        }
    }
}

extension Target {
    /// The targets for which `results` have all that is needed.
    static func all(in results: [SuiteResult]) -> [Target] {
        let measured = Measured(comparisons: results.flatMap(\.comparisons))
        return small(measured) + large(measured)
    }

    private static func small(_ measured: Measured) -> [Target] {
        let jobs = ["store", "read", "promote"]
        var targets: [Target] = []
        for job in jobs {
            guard let comparison = measured.small(job, .text) else { continue }
            targets.append(
                Target(
                    name: "\(job), 16 KiB of text, × floor", figure: comparison.ratioToFloor,
                    bound: .atMost(1.25)))
        }
        for cache in ["URLCache", "diskcache"] {
            for job in jobs {
                guard let comparison = measured.small(job, .text), let peer = comparison.peer(cache) else {
                    continue
                }
                targets.append(
                    Target(
                        name: "\(job), 16 KiB of text, \(cache)'s time / ours",
                        figure: peer.median / comparison.ours.median, bound: .atLeast(3)))
            }
        }
        for database in ["SQLite", "LMDB", "RocksDB"] {
            guard let store = measured.small("store", .text), let open = measured.small("promote", .text),
                let stored = store.peer(database), let opened = open.peer(database)
            else { continue }
            targets.append(
                Target(
                    name: "store + first open, 16 KiB of text, \(database)'s time / ours",
                    figure: (stored.median + opened.median) / (store.ours.median + open.ours.median),
                    bound: .atLeast(1)))
        }
        if let comparison = measured.small("evict", .text) {
            targets.append(
                Target(
                    name: "evict, 16 KiB of text, × unlink", figure: comparison.ratioToFloor,
                    bound: .atMost(1.5)))
        }
        return targets
    }

    private static func large(_ measured: Measured) -> [Target] {
        var targets: [Target] = []
        if let store = measured.large("store", .text), let alone = store.peer("PrefetchCache, one thread") {
            if let lz4 = store.peer("lz4") {
                targets.append(
                    Target(
                        name: "store on one thread, large text, time of lz4 -1 / ours",
                        figure: lz4.median / alone.median, bound: .atLeast(0.95)))
            }
            targets.append(
                Target(
                    name: "store on all cores, large text, times as fast as on one thread",
                    figure: alone.median / store.ours.median, bound: .atLeast(1.8)))
        }
        if let promote = measured.large("promote", .text), let lz4 = promote.peer("lz4") {
            targets.append(
                Target(
                    name: "promote, large text, time of lz4 -d and flushes / ours",
                    figure: lz4.median / promote.ours.median, bound: .atLeast(0.95)))
        }
        if let one = measured.large("promote", .incompressible, isLargest: false),
            let all = measured.large("promote", .incompressible)
        {
            targets.append(
                Target(
                    name: "promote, large and incompressible, × that of 1 MiB",
                    figure: all.ours.median / one.ours.median, bound: .atMost(2)))
        }
        return targets
    }
}

/// Finds comparisons.
private struct Measured {
    let comparisons: [Comparison]

    func small(_ job: String, _ material: Material) -> Comparison? {
        comparisons.first {
            $0.suite == .small && $0.job == job && $0.material == material && $0.size == 16 << 10
        }
    }

    func large(_ job: String, _ material: Material, isLargest: Bool = true) -> Comparison? {
        let found = comparisons.filter { $0.suite == .large && $0.job == job && $0.material == material }
        return isLargest ? found.max { $0.size < $1.size } : found.min { $0.size < $1.size }
    }
}

extension Comparison {
    fileprivate func peer(_ name: String) -> Figure? { peers.first { $0.name == name }?.figure }
}
