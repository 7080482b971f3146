import Contenders

extension BarChart {
    /// The jobs of text of 16 KiB, a group for each.
    init(_ comparisons: [Comparison]) {
        let shown = comparisons.filter {
            $0.suite == .small && $0.material == .text && $0.size == 16 << 10
        }
        self.init(
            title: "Items of 16 KiB of text",
            groups: shown.map { comparison in
                let ours = Bar(label: "PrefetchCache", value: comparison.ratioToFloor, isOurs: true)
                // The same cache with another executor is for the table.
                let peers = comparison.peers.filter { !$0.name.hasPrefix("PrefetchCache") }.map { peer in
                    Bar(label: peer.name, value: peer.figure.median / comparison.floor.median, isOurs: false)
                }
                return Group(title: comparison.job, bars: [ours] + peers)
            })
    }
}
