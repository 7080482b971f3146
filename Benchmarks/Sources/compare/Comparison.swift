import Contenders

/// The outcome for one job on one kind of item, in microseconds per item.
struct Comparison {
    let suite: Suite
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
        suite: Suite, job: String, material: Material, size: Int, tasks: Int = 1, names: [String],
        rounds: [[Double]]
    ) {
        self.suite = suite
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
