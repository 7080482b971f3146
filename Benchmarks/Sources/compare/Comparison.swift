import Contenders

/// The outcome for one job on one workload, in microseconds per item.
struct Comparison {
    let job: Job
    let material: Material
    let size: Int
    let floor: Figure
    let ours: Figure?
    let peers: [(name: String, figure: Figure)]

    /// - Parameter rounds: the figures of all contenders of `lineup`, round by round.
    init(job: Job, workload: Workload, lineup: Lineup, rounds: [[Double]]) {
        self.job = job
        material = workload.material
        size = workload.size
        var figures = lineup.all.indices.map { index in Figure(rounds.map { $0[index] }) }
        floor = figures.removeFirst()
        ours = lineup.ours == nil ? nil : figures.removeFirst()
        peers = zip(lineup.peers, figures).map { ($0.name, $1) }
    }

    /// Our median as a multiple of the floor's.
    var ratioToFloor: Double? {
        ours.map { $0.median / floor.median }
    }
}
