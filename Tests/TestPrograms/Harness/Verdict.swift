internal import ArgumentParser
internal import Foundation

/// The end of a program: its one line.
struct Verdict {
    private let program: String
    private let start = ContinuousClock.now
    private var figures: [String] = []
    private var faults: [String] = []

    /// What is shown of many faults of a kind.
    private static let shown = 3

    init(_ program: String) {
        self.program = program
    }

    mutating func figure(_ text: String) { figures.append(text) }

    mutating func expect(_ holds: Bool, _ fault: @autoclosure () -> String) {
        if !holds { faults.append(fault()) }
    }

    /// Expects a number of the cache to be what was counted.
    ///
    /// - Parameters:
    ///   - unsaid: So many may have been done beyond the count, by a process that was killed before it said so.
    ///   - lost: So many may be missing, of what a process had only in memory when it was killed.
    mutating func expect(
        _ name: String, _ said: Int64, counted: Int, unsaid: Int = 0, lost: Int = 0
    ) {
        let range = Int64(counted - lost)...Int64(counted + unsaid)
        let expected = lost == 0 && unsaid == 0 ? "\(counted)" : "\(range.lowerBound) to \(range.upperBound)"
        expect(range.contains(said), "counts: the cache says \(said) \(name) where \(expected) were counted")
    }

    /// Judges what was noted: faults, slow calls, too many threads and descriptors.
    ///
    /// - Parameter limits: The longest that calls may take, in seconds, where the machine itself is not held up.
    mutating func judge(_ tally: Tally, limits: [String: Double], threads: Int, descriptors: Int) {
        let plain = tally.slowest[Vitals.plainRead] ?? 0
        for (call, seconds) in tally.slowest.sorted(by: { $0.key < $1.key }) where call != Vitals.plainRead {
            let limit = (limits[call] ?? limits["others"] ?? .infinity) + 3 * plain
            expect(seconds <= limit, "times: \(call) took \(seconds.time) where \(limit.time) is the limit")
        }
        let slowest = tally.slowest.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value.time)" }
        figure("slowest: \(slowest.joined(separator: ", "))")
        for (things, limit) in [("threads", threads), ("descriptors", descriptors)] {
            guard let most = tally.most[things] else { continue }
            figure("\(most) \(things) at most")
            expect(most <= limit, "\(things): \(most) where \(limit) is the limit")
        }
        faults += tally.faults
    }

    /// Prints the line.
    ///
    /// - Throws: The exit code, where something was wrong.
    func end() throws {
        let seconds = (start.duration(to: .now) / .seconds(1)).time
        var line = "\(program): \(figures.joined(separator: "; ")); \(seconds) in all; "
        let kinds = Dictionary(grouping: faults) { $0.prefix { $0 != ":" } }
        let texts = kinds.sorted { $0.key < $1.key }.map { _, texts in
            let rest = texts.count > Self.shown ? " and \(texts.count - Self.shown) more" : ""
            return texts.prefix(Self.shown).joined(separator: " | ") + rest
        }
        line += texts.isEmpty ? "passed" : "FAILED: \(texts.joined(separator: " | "))"
        Output.write(line)
        if !faults.isEmpty { throw ExitCode(1) }
    }
}

extension Double {
    /// Seconds, as a person would say it.
    var time: String {
        self < 0.1 ? "\(String(format: "%.1f", self * 1000)) ms" : "\(String(format: "%.2f", self)) s"
    }
}
