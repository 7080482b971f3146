internal import ArgumentParser
internal import Foundation
internal import PrefetchCaching
internal import PrefetchFileSystem
internal import SystemPackage

struct Simulate: CacheCommand {
    static let configuration = CommandConfiguration(
        commandName: "simulate",
        abstract: "Says what the hit ratio would have been with other budgets and policies.",
        discussion: """
            Replays the cache's own journal: what arrived, and what the user opened and read. The journal holds some \
            10,000 events; the first line says which time that is. What the app would have downloaded on top is not \
            known, so the result is an estimate, and a rough one if the journal covers a few days only.

            OF counts the opens and reads of items that arrived within that time, HITS those that would have found \
            their item. An item that the simulated cache still has is not downloaded again. The row of what is in \
            force now is marked, and added if it was not asked for.

            EXAMPLES:
              # Would twice the space help?
              cachectl simulate --app org.example.app
              # Which policy, with which budget?
              cachectl simulate --budget 1GiB,2GiB --policy lru,value --app org.example.app
              # Draw it, without counting what arrived in the first week
              cachectl simulate --budget 1GiB --warm-up 7d --svg r.svg --app org.example.app
            """)

    /// Each takes seconds.
    private static let mostRows = 64

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "The budgets, such as 1GiB,2GiB; half, all and twice of the one in force if none is given.",
            valueName: "sizes"), transform: Self.budgets)
    var budget: [ByteCount]?

    @Option(
        help: ArgumentHelp(
            "The policies: \(EvictionPolicyChoice.allCases.map(\.rawValue).joined(separator: ", ")); lru and value if none is given.",
            valueName: "policies"), transform: Self.policies)
    var policy: [EvictionPolicyChoice]?

    @Flag(help: "Have the gate refuse what is not worth downloading.")
    var gate = false

    @Option("Only the last 12h, 30d or 4w.", "duration", parse: Lifetime.init(_:))
    var since: Lifetime?

    @Option(
        "Do not count items that arrived within the first 12h or 7d: the cache was empty then.", "duration",
        parse: Lifetime.init(_:))
    var warmUp: Lifetime?

    @Option(
        help: ArgumentHelp("Draw the hit ratios to this file.", valueName: "file"),
        completion: .file(extensions: ["svg"]), transform: FilePath.parse)
    var svg: FilePath?

    @Flag(help: "Replace the file if it exists; its owner and its permissions stay.")
    var force = false

    @OptionGroup var shared: SharedOptions

    var handlesSignals: Bool { true }

    var isLooking: Bool { true }

    private var asked: [EvictionPolicyChoice] { policy ?? [.lru, .value] }

    private static func budgets(_ text: String) throws -> [ByteCount] {
        var budgets: [ByteCount] = []
        for size in text.split(separator: ",", omittingEmptySubsequences: false) {
            let budget = try ByteSize.parse(String(size))
            guard budget.bytes > 0 else { throw ValidationError("a budget of 0 holds nothing") }
            budgets.append(budget)
        }
        return budgets
    }

    private static func policies(_ text: String) throws -> [EvictionPolicyChoice] {
        try text.split(separator: ",", omittingEmptySubsequences: false).map { name in
            guard let policy = EvictionPolicyChoice(rawValue: String(name)) else {
                throw ValidationError("there is no policy '\(String(name).escapedForTerminal)'")
            }
            return policy
        }
    }

    func validate() throws {
        if force, svg == nil { throw ValidationError("--force is for --svg") }
        if let svg, svg.isEmpty { throw ValidationError("--svg needs the name of a file") }
        if let budget, budget.count * asked.count > Self.mostRows {
            throw ValidationError("these are more than \(Self.mostRows) combinations; ask for fewer at once")
        }
    }

    func perform(on cache: PrefetchCache, at place: Place, to output: Output) async throws {
        let file = svg.map { NewFile($0, replacing: force) }
        try file?.check()
        let trace = JournalTrace(
            try await cache.journal().entries, since: since.map { $0.start(before: Timestamp.now) })
        guard trace.arrivals > 0 else {
            throw CommandFailure(
                .notFound,
                "the journal tells of no item that arrived\(since == nil ? "" : " in that time"): there is nothing to "
                    + "replay yet; it grows as the cache is used")
        }
        let current = WhatIf.Setting(
            budget: .bytes(try await cache.statistics().budgetBytes),
            policy: try await cache.configuration().evictionPolicy)
        let rows = try replay(trace, settings(with: current), current: current)
        try SimulationTable(trace: trace, rows: rows, usesGate: gate).print(to: output)
        try file?.write(HitRatioChart(rows: rows).svg)
    }

    private func settings(with current: WhatIf.Setting) -> [WhatIf.Setting] {
        let now = current.budget.bytes
        let sizes = budget ?? [now / 2, now, now > .max / 2 ? .max : now * 2].map(ByteCount.bytes)
        let settings = sizes.flatMap { size in asked.map { WhatIf.Setting(budget: size, policy: $0) } }
        return Set(settings + [current]).filter { $0.budget.bytes > 0 }.sorted {
            ($0.budget.bytes, $0.policy.rawValue) < ($1.budget.bytes, $1.policy.rawValue)
        }
    }

    private func replay(
        _ trace: JournalTrace, _ settings: [WhatIf.Setting], current: WhatIf.Setting
    ) throws -> [WhatIf] {
        let signals = SignalHandler([SIGINT, SIGTERM, SIGHUP]) { _ in }
        defer { signals.end() }
        let replay = WhatIf.Replay(
            trace: trace, usesGate: gate, warmUp: warmUp?.milliseconds ?? 0,
            isCancelled: { signals.firstSignal != nil })
        do {
            return try settings.map { setting in
                WhatIf(
                    setting: setting, isCurrent: setting == current, result: try replay.result(of: setting))
            }
        } catch is CancellationError {
            throw CommandFailure(.ended(by: signals.firstSignal ?? SIGINT), nil)
        }
    }
}
