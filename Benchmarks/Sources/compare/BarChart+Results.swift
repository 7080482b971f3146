import Contenders

extension BarChart {
    /// What users choose by: the jobs of text of 16 KiB, a group for each, and of the day its time and its space.
    init(_ comparisons: [Comparison]) {
        let shown = comparisons.filter {
            $0.suite == .day || $0.suite == .small && $0.material == .text && $0.size == 16 << 10
        }
        self.init(
            title: "What an item costs: 16 KiB of text, and 64 KiB over a day",
            groups: shown.map { comparison in
                let ours = Bar(label: "PrefetchCache", value: comparison.ratioToFloor, isOurs: true)
                // The same cache with another executor is for the table.
                let peers = comparison.peers.filter { !$0.name.hasPrefix("PrefetchCache") }.map { peer in
                    Bar(label: peer.name, value: peer.figure.median / comparison.floor.median, isOurs: false)
                }
                return Group(title: Self.title(of: comparison), bars: [ours] + peers)
            })
    }

    private static func title(of comparison: Comparison) -> String {
        switch (comparison.suite, comparison.unit) {
        case (.day, .microseconds): "a day of an app: time"
        case (.day, .bytes): "a day of an app: bytes on the volume at its end"
        default: comparison.job == "promote" ? "open, durable" : comparison.job
        }
    }
}
