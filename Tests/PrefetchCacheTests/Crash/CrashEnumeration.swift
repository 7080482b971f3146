import FileSystemTestSupport
import Testing

@testable import PrefetchCaching

/// Every moment of a workload, and at each what the loss of power may leave, judged one by one; and
/// for each of these the same once more, in the middle of its recovery.
///
/// A crash is named by its steps, `moment.choice` or `moment.choice/moment.choice`, by which it can be
/// run again alone.
struct CrashEnumeration {
    struct Outcome: Sendable, CustomStringConvertible {
        var states = 0
        var broken: [Violation.Kind: Int] = [:]
        /// The first violation of each kind, with all that is needed to repeat it.
        var reports: [String] = []

        mutating func add(_ other: Outcome) {
            states += other.states
            broken.merge(other.broken, uniquingKeysWith: +)
            reports += other.reports
        }

        var description: String {
            let counts = Violation.Kind.allCases.map { "\($0) \(broken[$0] ?? 0)" }
            return "\(states) states: \(counts.joined(separator: ", "))"
        }
    }

    /// Disks per moment, unless all choices are fewer.
    var choices = TestRun.count(short: 2, long: 64)
    /// Crashes in the middle of each recovery.
    var secondCrashes = TestRun.count(short: 0, long: 2)

    let workload: CrashWorkload
    let seed: UInt64
    var breakage = Breakage.none

    func run(only steps: [Step]? = nil) throws -> Outcome {
        var outcome = Outcome()
        let history = try workload.history(from: workload.start(), breakage)
        // One disk with the same promises is judged once, however many ways lead to it.
        var seen: Set<SeenDisk> = []
        for (moment, state) in history.moments.enumerated() {
            for (choice, crash) in crashes(at: moment, of: history).enumerated() {
                let step = Step(moment: moment, choice: choice)
                if let steps, steps.first != step { continue }
                if case .power(let disk) = crash, steps == nil {
                    guard seen.insert(SeenDisk(disk: disk, notes: state.notes)).inserted else { continue }
                }
                try judge([step], crash, history.notes.prefix(state.notes), history, &outcome, only: steps)
            }
        }
        return outcome
    }

    private struct SeenDisk: Hashable {
        let disk: SimulatedDisk
        let notes: Int
    }

    /// The death of the process, and the losses of power.
    private func crashes(at moment: Int, of history: SimulatedHistory) -> [Crash] {
        // Seeded by the moment, so that one can be repeated without those before it.
        var random = SeededGenerator(seed: seed &+ UInt64(moment) &* 0x9E37)
        let state = history.moments[moment]
        return [.kill(state)] + state.disks(limit: choices, using: &random).map(Crash.power)
    }

    private func judge(
        _ path: [Step], _ crash: Crash, _ notes: ArraySlice<String>, _ history: SimulatedHistory,
        _ outcome: inout Outcome, only steps: [Step]?
    ) throws {
        let world = SimulatedWorld(crash, breakage)
        outcome.states += 1
        do {
            try workload.judge(world, notes)
        } catch {
            if outcome.broken[error.kind] == nil { outcome.reports.append(report(error, path, history)) }
            outcome.broken[error.kind, default: 0] += 1
            return
        }
        guard path.count == 1 else { return }
        let recovery = world.fileSystem.history
        let named = steps.map { $0.dropFirst().filter { recovery.moments.indices.contains($0.moment) } }
        for step in named ?? secondSteps(after: path[0], in: recovery) {
            let crashes = crashes(at: step.moment, of: recovery)
            let second = crashes[step.choice % crashes.count]
            let told = notes + recovery.notes.prefix(recovery.moments[step.moment].notes)
            try judge(path + [step], second, told, recovery, &outcome, only: steps)
        }
    }

    private func secondSteps(after first: Step, in recovery: SimulatedHistory) -> [Step] {
        var random = SeededGenerator(seed: seed &+ UInt64(first.moment) &* 977 &+ UInt64(first.choice))
        return (0..<secondCrashes).map { _ in
            Step(
                moment: Int.random(in: recovery.moments.indices, using: &random),
                choice: Int.random(in: 0..<choices, using: &random))
        }
    }

    private func report(_ violation: Violation, _ path: [Step], _ history: SimulatedHistory) -> String {
        let last = path[path.count - 1].moment
        let operations = history.moments.prefix(last + 1).map(\.operation).joined(separator: "\n    ")
        let name = path.map(\.description).joined(separator: "/")
        return """
            \(violation)
              again: PREFETCHCACHE_CRASH='\(workload.name):\(seed):\(name)' swift test --filter CrashTests
              operations before it:
                \(operations)
            """
    }
}

/// How a workload ends before its end.
enum Crash {
    /// The process dies, and the machine goes on.
    case kill(SimulatedHistory.Moment)
    /// The power goes, and leaves this.
    case power(SimulatedDisk)
}

/// A moment in a history, and which of the disks that it may leave.
struct Step: Hashable, CustomStringConvertible {
    let moment: Int
    let choice: Int

    init(moment: Int, choice: Int) {
        self.moment = moment
        self.choice = choice
    }

    init?(_ text: some StringProtocol) {
        let numbers = text.split(separator: ".").compactMap { Int($0) }
        guard numbers.count == 2 else { return nil }
        self.init(moment: numbers[0], choice: numbers[1])
    }

    var description: String { "\(moment).\(choice)" }
}
