import Contenders

/// The outcome for one job on one kind of item.
struct Comparison {
    /// What its figures are, per item.
    enum Unit: String {
        case microseconds, bytes
    }

    let suite: Suite
    let unit: Unit
    let job: String
    let material: Material
    /// Bytes per item.
    let size: Int
    /// How many tasks shared the items.
    let tasks: Int
    let floor: Figure
    let ours: Figure
    let peers: [(name: String, figure: Figure)]

    /// - Parameters:
    ///   - names: Those of the contenders: the floor, ours, the peers.
    ///   - rounds: Their figures in this order, round by round.
    init(
        suite: Suite, job: String, unit: Unit = .microseconds, material: Material, size: Int, tasks: Int = 1,
        names: [String], rounds: [[Double]]
    ) {
        self.suite = suite
        self.unit = unit
        self.job = job
        self.material = material
        self.size = size
        self.tasks = tasks
        let figures = names.indices.map { index in Figure(rounds.map { $0[index] }) }
        floor = figures[0]
        ours = figures[1]
        peers = zip(names, figures).dropFirst(2).map { ($0, $1) }
    }

    /// Our median as a multiple of the floor's.
    var ratioToFloor: Double { ours.median / floor.median }
}
