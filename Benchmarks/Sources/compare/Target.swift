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
        return small(measured) + large(measured) + tasks(measured) + day(measured)
    }

    /// Multiples of the floor, of 16 KiB.
    private static let small: [(job: String, text: Double, incompressible: Double)] = [
        ("store", 1.15, 1.4), ("read", 1.15, 1.4), ("promote", 1.4, 2), ("evict", 1.25, 1.25),
    ]

    private static func small(_ measured: Measured) -> [Target] {
        var targets: [Target] = []
        for (job, text, incompressible) in small {
            for (material, most) in [(Material.text, text), (.incompressible, incompressible)] {
                guard let comparison = measured.small(job, material) else { continue }
                targets.append(
                    Target(
                        name: "\(job), 16 KiB, \(material.rawValue), × floor",
                        figure: comparison.ratioToFloor,
                        bound: .atMost(most)))
            }
        }
        for cache in ["URLCache", "diskcache"] {
            for job in ["store", "read", "evict"] {
                guard let comparison = measured.small(job, .text), let peer = comparison.peer(cache) else {
                    continue
                }
                targets.append(
                    Target(
                        name: "\(job), 16 KiB of text, \(cache)'s time / ours",
                        figure: peer.median / comparison.ours.median, bound: .atLeast(3)))
            }
        }
        return targets
    }

    private static func tasks(_ measured: Measured) -> [Target] {
        let all: [(job: TasksJob, tasks: Int, least: Double)] = [(.store, 2, 1.6), (.promote, 8, 4)]
        return all.compactMap { job, tasks, least in
            guard let one = measured.tasks(job, 1), let several = measured.tasks(job, tasks) else {
                return nil
            }
            return Target(
                name: "\(job.rawValue) by \(tasks) tasks, times as fast as by one",
                figure: one.ours.median / several.ours.median, bound: .atLeast(least))
        }
    }

    private static func day(_ measured: Measured) -> [Target] {
        measured.day.compactMap { comparison in
            guard let database = comparison.peer("SQLite") else { return nil }
            return Target(
                name: "\(comparison.job), SQLite's / ours", figure: database.median / comparison.ours.median,
                bound: .atLeast(1))
        }
    }

    private static func large(_ measured: Measured) -> [Target] {
        var targets: [Target] = []
        if let store = measured.large("store", .text), let alone = store.peer("PrefetchCache, one thread") {
            if let lz4 = store.peer("lz4") {
                targets.append(
                    Target(
                        name: "store on one thread, large text, time of lz4 -1 / ours",
                        figure: lz4.median / alone.median, bound: .atLeast(1.2)))
            }
            targets.append(
                Target(
                    name: "store on all cores, large text, times as fast as on one thread",
                    figure: alone.median / store.ours.median, bound: .atLeast(1.8)))
        }
        if let one = measured.large("promote", .incompressible, isLargest: false),
            let all = measured.large("promote", .incompressible)
        {
            targets.append(
                Target(
                    name: "promote, large and incompressible, × that of 1 MiB",
                    figure: all.ours.median / one.ours.median, bound: .atMost(1.5)))
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

    func tasks(_ job: TasksJob, _ tasks: Int) -> Comparison? {
        comparisons.first { $0.suite == .tasks && $0.job == job.rawValue && $0.tasks == tasks }
    }

    var day: [Comparison] { comparisons.filter { $0.suite == .day } }

    func large(_ job: String, _ material: Material, isLargest: Bool = true) -> Comparison? {
        let found = comparisons.filter { $0.suite == .large && $0.job == job && $0.material == material }
        return isLargest ? found.max { $0.size < $1.size } : found.min { $0.size < $1.size }
    }
}

extension Comparison {
    fileprivate func peer(_ name: String) -> Figure? { peers.first { $0.name == name }?.figure }
}
