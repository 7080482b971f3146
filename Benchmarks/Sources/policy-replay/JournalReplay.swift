import Foundation
@_spi(Simulation) import PrefetchCaching

/// A line of `cachectl events --json`.
struct JournalLine: Decodable {
    let event: String
    let timeMilliseconds: Int64
    let count: Int64
    let key: String?
    let source: String?
    let reason: String?
    let contentBytes: Int64?
    let chargedBytes: Int64?
}

/// Replays what the journal of a cache tells of arrivals and of what the user wanted.
///
/// Only items whose arrival is told are followed. An arrival is an item that was stored, or refused for lack of room, the
/// latter once until it is stored. A miss is a read if items of its source are read and never opened, and otherwise an
/// open. What left for a reason that no budget changes (it was replaced, removed, damaged or purged, or its time was over)
/// leaves in every replay.
struct JournalReplay {
    private static let lackOfRoom: Set = ["overBudget", "lowPriority", "lowValue"]
    private static let departures: Set<Departure> = [
        .replaced, .expired, .request, .removed, .damaged, .purged,
    ]

    private let simulation: PrefetchSimulation
    private let readSources: Set<String>
    /// Milliseconds since the first line.
    private var time: Int64 = 0
    private let start: Int64
    private var sources: [ItemKey: String] = [:]
    private var refused: Set<ItemKey> = []
    private var opened: Set<ItemKey> = []

    static func run(_ lines: [JournalLine], in simulation: PrefetchSimulation) throws {
        var replay = JournalReplay(lines, in: simulation)
        // Many misses at once are counted without their keys.
        for line in lines { if let key = line.key { try replay.take(line, try ItemKey(key)) } }
    }

    private init(_ lines: [JournalLine], in simulation: PrefetchSimulation) {
        self.simulation = simulation
        start = lines.first?.timeMilliseconds ?? 0
        func sources(of event: String) -> Set<String> {
            Set(lines.lazy.filter { $0.event == event }.map { $0.source ?? "" })
        }
        readSources = sources(of: "read").subtracting(sources(of: "opened"))
    }

    private mutating func take(_ line: JournalLine, _ key: ItemKey) throws {
        time = max(time, line.timeMilliseconds.subtractingReportingOverflow(start).partialValue)
        let source = sources[key]
        switch line.event {
        case "stored":
            refused.remove(key)
            try arrive(line, key, isNew: opened.remove(key) != nil)
        case "refused":
            guard Self.lackOfRoom.contains(line.reason ?? ""), line.contentBytes ?? 0 > 0,
                refused.insert(key).inserted
            else { return }
            try arrive(line, key, isNew: false)
        case "opened" where source != nil:
            opened.insert(key)
            try want(key, 1, isRead: false)
        case "read" where source != nil: try want(key, line.count, isRead: true)
        case "missed" where source != nil:
            try want(key, line.count, isRead: readSources.contains(source ?? ""))
        case "left":
            guard let reason = line.reason.flatMap(Departure.init), Self.departures.contains(reason)
            else { return }
            try simulation.drop(key, because: reason, at: time)
        default: return
        }
    }

    /// An item that is stored again while the simulated cache still has it, or has handed it over to the user, is no new
    /// arrival: there, its downloader would have found it.
    ///
    /// - Parameter isNew: Whether the user had opened an earlier item of the key: the file of that one is gone then.
    private mutating func arrive(_ line: JournalLine, _ key: ItemKey, isNew: Bool) throws {
        sources[key] = line.source ?? ""
        guard isNew || simulation.place(of: key) == .nowhere else { return }
        try simulation.replace(key, at: time)
        try simulation.arrive(
            key, source: line.source ?? "", size: line.contentBytes ?? 0, charge: line.chargedBytes, at: time)
    }

    private func want(_ key: ItemKey, _ count: Int64, isRead: Bool) throws {
        // The user has the file.
        if simulation.place(of: key) == .opened { return }
        if isRead {
            try simulation.read(key, count: count, at: time)
        } else {
            try simulation.open(key, count: count, at: time)
        }
    }
}
