internal import Foundation
@_spi(Simulation) internal import PrefetchCaching
internal import PrefetchStorageAreas

/// What would have come of a trace with one budget and policy.
struct WhatIf {
    struct Setting: Hashable {
        let budget: ByteCount
        let policy: EvictionPolicyChoice
    }

    let setting: Setting
    /// Whether it is what is in force now.
    let isCurrent: Bool
    let result: PrefetchSimulation.Result

    /// From 0 to 1; `nil` if nothing was opened or read.
    var hitRatio: Double? { result.opens > 0 ? Double(result.hits) / Double(result.opens) : nil }

    /// How a trace is replayed.
    struct Replay {
        let trace: JournalTrace
        let usesGate: Bool
        /// Items that arrive within so many milliseconds after the beginning are not counted.
        let warmUp: Int64
        let isCancelled: () -> Bool

        /// Blocks, in proportion to the events of the trace: some 5,000 a second.
        ///
        /// - Throws: `CancellationError`, and whatever the simulation throws.
        func result(of setting: Setting) throws -> PrefetchSimulation.Result {
            try SimulationFolder.with { areas in
                let start = trace.period?.lowerBound ?? 0
                let simulation = try PrefetchSimulation(
                    capacity: setting.budget, policy: setting.policy, usesGate: usesGate,
                    warmUp: start.addingOrMax(warmUp), in: areas)
                for event in trace.events {
                    guard !isCancelled() else { throw CancellationError() }
                    try replay(event, in: simulation)
                }
                return simulation.result
            }
        }

        /// An item that is stored again while the simulated cache still has it, or has handed it over to the user, is no
        /// new arrival: there, its downloader would have found it. One that has left the simulated cache arrives, and is
        /// downloaded, again.
        private func replay(_ event: JournalTrace.Event, in simulation: PrefetchSimulation) throws {
            let (key, time) = (event.key, event.time)
            let place = simulation.place(of: key)
            switch event.act {
            case .arrival(let source, let contentBytes, let chargedBytes, let isNew):
                guard isNew || place == .nowhere else { return }
                try simulation.replace(key, at: time)
                try simulation.arrive(
                    key, source: source, size: contentBytes, charge: chargedBytes, at: time)
            // The user has the file.
            case .open where place == .opened, .read where place == .opened: return
            case .open(let count): try simulation.open(key, count: count, at: time)
            case .read(let count): try simulation.read(key, count: count, at: time)
            case .departure(let reason): try simulation.drop(key, because: reason, at: time)
            }
        }
    }
}

/// An empty folder for the catalog of a simulation, gone afterwards.
enum SimulationFolder {
    static func with<Result>(_ body: (StorageAreas) throws -> Result) throws -> Result {
        let folder = FileManager.default.temporaryDirectory
            .appending(path: "cachectl-\(UUID().uuidString)", directoryHint: .isDirectory)
        try FileManager.default.createDirectory(
            at: folder, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
        defer { remove(folder) }
        return try body(.container(at: folder))
    }

    private static func remove(_ folder: URL) {
        do {
            try FileManager.default.removeItem(at: folder)
        } catch {
            StandardStreams.writeError("cachectl: warning: \(folder.path) stays: \(error)")
        }
    }
}

extension Int64 {
    fileprivate func addingOrMax(_ other: Int64) -> Int64 {
        let (sum, overflow) = addingReportingOverflow(other)
        return overflow ? .max : sum
    }
}
