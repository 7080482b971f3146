import FileSystemTestSupport
import Synchronization
import Testing

@testable import PrefetchCache

/// Every moment of a workload, and at each what the loss of power may leave, judged one by one; and
/// for each of these the same once more, in the middle of its recovery.
///
/// A crash is named by its steps, `moment.choice` or `moment.choice/moment.choice`, by which it can be
/// run again alone.
struct CrashEnumeration {
    struct Outcome {
        var states = 0
        var broken: [Violation.Kind: Int] = [:]
        /// The first violation of each kind, with all that is needed to repeat it.
        var reports: [String] = []
    }

    /// Disks per moment, unless all choices are fewer.
    static let choices = 64
    /// Crashes in the middle of each recovery.
    static let secondCrashes = 1

    let workload: CrashWorkload
    let seed: UInt64
    var isLedgerFlushed = true

    func run(only steps: [Step]? = nil) throws -> Outcome {
        var outcome = Outcome()
        let history = try workload.history(from: workload.start(), isLedgerFlushed: isLedgerFlushed)
        // One disk with the same promises is judged once, however many ways lead to it.
        var seen: Set<SeenDisk> = []
        for (moment, state) in history.moments.enumerated() {
            for (choice, disk) in disks(at: moment, of: history).enumerated() {
                let step = Step(moment: moment, choice: choice)
                if let steps, steps.first != step { continue }
                guard seen.insert(SeenDisk(disk: disk, notes: state.notes)).inserted || steps != nil else {
                    continue
                }
                try crash([step], disk, history.notes.prefix(state.notes), history, &outcome, only: steps)
            }
        }
        return outcome
    }

    private struct SeenDisk: Hashable {
        let disk: SimulatedDisk
        let notes: Int
    }

    private func disks(at moment: Int, of history: SimulatedHistory) -> [SimulatedDisk] {
        // Seeded by the moment, so that one can be repeated without those before it.
        var random = SeededGenerator(seed: seed &+ UInt64(moment) &* 0x9E37)
        return history.moments[moment].disks(limit: Self.choices, using: &random)
    }

    private func crash(
        _ path: [Step], _ disk: SimulatedDisk, _ notes: ArraySlice<String>, _ history: SimulatedHistory,
        _ outcome: inout Outcome, only steps: [Step]?
    ) throws {
        let world = SimulatedWorld(disk, isLedgerFlushed: isLedgerFlushed)
        outcome.states += 1
        do {
            try CrashJudge(workload: workload, notes: notes).judge(world)
        } catch {
            if outcome.broken[error.kind] == nil { outcome.reports.append(report(error, path, history)) }
            outcome.broken[error.kind, default: 0] += 1
            return
        }
        guard path.count == 1 else { return }
        let recovery = world.fileSystem.history
        for step in secondSteps(after: path[0], in: recovery) {
            if let steps, steps.count > 1, steps[1] != step { continue }
            let disks = disks(at: step.moment, of: recovery)
            let second = disks[step.choice % disks.count]
            let told = notes + recovery.notes.prefix(recovery.moments[step.moment].notes)
            try crash(path + [step], second, told, recovery, &outcome, only: steps)
        }
    }

    private func secondSteps(after first: Step, in recovery: SimulatedHistory) -> [Step] {
        var random = SeededGenerator(seed: seed &+ UInt64(first.moment) &* 977 &+ UInt64(first.choice))
        return (0..<Self.secondCrashes).map { _ in
            Step(
                moment: Int.random(in: recovery.moments.indices, using: &random),
                choice: Int.random(in: 0..<Self.choices, using: &random))
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
