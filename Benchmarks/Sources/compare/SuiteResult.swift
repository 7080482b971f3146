import Contenders
import Foundation

/// What a suite came to.
struct SuiteResult {
    let suite: Suite
    let comparisons: [Comparison]
    /// Who took part, in the order of the table.
    let entries: [Entry]

    /// A table for people, with how the contenders were set up below.
    ///
    /// The median of the floor, or of the first where there is none, is a time, or a number of bytes, per item; everybody's is a multiple of it. Behind each is its spread: half
    /// the distance between the quartiles of the rounds, in per cent of the median.
    var table: String {
        let isOfTasks = suite == .tasks
        let head =
            ["job", "content", "size"] + (isOfTasks ? ["tasks"] : [])
            + entries.map { Self.shortened($0.name) }
            + (isOfTasks ? ["ours, items/s"] : [])
        let rows = comparisons.map { comparison in
            var row = [comparison.job, comparison.material.rawValue, byteCount(comparison.size)]
            if isOfTasks { row.append("\(comparison.tasks)") }
            row.append(
                "\(Self.amount(comparison.base.median, comparison.unit)) \(Self.spread(comparison.base))")
            for entry in entries.dropFirst() {
                row.append(
                    comparison.figure(of: entry.name).map {
                        "\(Self.multiple($0.median / comparison.base.median)) \(Self.spread($0))"
                    } ?? "–")
            }
            if isOfTasks { row.append(String(format: "%.0f", 1e6 / comparison.ours)) }
            return row
        }
        let legend =
            "Medians: time or space per item for the first, multiples of it for all others. ±: half the interquartile range."
        let setups = entries.map { "\(Self.shortened($0.name)): \($0.setup)" }
        return ([textTable([head] + rows, leading: 2), "", legend] + setups).joined(separator: "\n")
    }

    /// A column's width is worth more than our full name.
    private static func shortened(_ name: String) -> String { name.replacing(Entry.ourName, with: "ours") }

    private static func amount(_ figure: Double, _ unit: Comparison.Unit) -> String {
        switch unit {
        case .bytes: String(format: "%.1f KiB", figure / 1024)
        case .microseconds where figure < 1000: String(format: "%.1f µs", figure)
        case .microseconds: String(format: "%.1f ms", figure / 1000)
        }
    }

    /// Two or three digits.
    private static func multiple(_ ratio: Double) -> String {
        let decimals = max(0, 2 - Int(log10(max(ratio, 1e-4)).rounded(.down)))
        return "×" + String(format: "%.\(ratio < 1 ? decimals - 1 : decimals)f", ratio)
    }

    private static func spread(_ figure: Figure) -> String {
        let half = (figure.upperQuartile - figure.lowerQuartile) / 2
        return String(format: "±%.0f%%", half / figure.median * 100)
    }
}

extension Target {
    /// The targets for which `results` have all that is needed.
    static func all(in results: [SuiteResult]) -> [Target] {
        func comparisons(_ suite: Suite, _ isWanted: (Comparison) -> Bool) -> [Comparison] {
            results.filter { $0.suite == suite }.flatMap(\.comparisons).filter(isWanted)
        }
        /// The figures of two contenders, one by the other.
        func ratio(_ comparison: Comparison?, _ name: String, to other: String = Entry.ourName) -> Double? {
            guard let one = comparison?.figure(of: name), let other = comparison?.figure(of: other) else {
                return nil
            }
            return one.median / other.median
        }
        var targets: [Target] = []
        func add(_ name: String, _ figure: Double?, _ bound: Bound) {
            if let figure { targets.append(Target(name, figure, bound)) }
        }
        func small(_ job: Job, _ material: Material) -> Comparison? {
            comparisons(.small) { $0.job == job.rawValue && $0.material == material && $0.size == 16 << 10 }
                .first
        }
        // Multiples of the floor.
        let multiples: [(Job, text: Double, incompressible: Double)] = [
            (.store, 1.15, 1.4), (.read, 1.15, 1.4), (.promote, 1.4, 2), (.evict, 1.25, 1.25),
        ]
        for (job, text, incompressible) in multiples {
            for (material, most) in [(Material.text, text), (.incompressible, incompressible)] {
                add(
                    "\(job), 16 KiB, \(material), × floor",
                    ratio(small(job, material), Entry.ourName, to: "floor"), .atMost(most))
            }
        }
        for cache in ["URLCache", "diskcache"] {
            for job in [Job.store, .read, .evict] {
                add(
                    "\(job), 16 KiB of text, \(cache)'s time / ours", ratio(small(job, .text), cache),
                    .atLeast(3))
            }
        }
        func large(_ job: Job, _ material: Material) -> [Comparison] {
            comparisons(.large) { $0.job == job.rawValue && $0.material == material }
                .sorted { $0.size < $1.size }
        }
        let (alone, store) = ("\(Entry.ourName), one thread", large(.store, .text).last)
        add(
            "store on one thread, large text, time of lz4 -1 / ours", ratio(store, "lz4", to: alone),
            .atLeast(1.2))
        add(
            "store on all cores, large text, times as fast as on one thread", ratio(store, alone),
            .atLeast(1.8))
        let promoted = large(.promote, .incompressible).map(\.ours)
        if let least = promoted.first, let most = promoted.last {
            add("promote, large and incompressible, × that of 1 MiB", most / least, .atMost(1.5))
        }
        for (job, tasks, least) in [(Job.store, 2, 1.6), (.promote, 8, 4)] {
            let figures = [1, tasks].compactMap { tasks in
                comparisons(.tasks) { $0.job == job.rawValue && $0.tasks == tasks }.first?.ours
            }
            guard figures.count == 2 else { continue }
            add("\(job) by \(tasks) tasks, times as fast as by one", figures[0] / figures[1], .atLeast(least))
        }
        for comparison in comparisons(.day, { _ in true }) {
            add("\(comparison.job), SQLite's / ours", ratio(comparison, "SQLite"), .atLeast(1))
        }
        return targets
    }
}
