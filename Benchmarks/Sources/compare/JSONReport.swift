import Contenders
import Foundation

/// Results as a JSON array of comparisons, for programs.
///
/// `floor` and `ours` are medians per item, in what `unit` says, `ratioToFloor` is ours as a multiple of the
/// floor's, and `peers` says of each peer what multiple of ours its median is. `spread` holds the least and the most of
/// each, and `setups` how each was set up. `size` is in bytes.
struct JSONReport {
    let text: String

    init(_ results: [SuiteResult]) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
        let entries = results.flatMap { result in
            let setups = Dictionary(result.setups.map { ($0.name, $0.text) }, uniquingKeysWith: { $1 })
            return result.comparisons.map { Entry($0, setups) }
        }
        text = String(decoding: try encoder.encode(entries), as: UTF8.self)
    }

    private struct Entry: Encodable {
        let suite: String
        let job: String
        let unit: String
        let material: String
        let size: Int
        let tasks: Int
        let ours: Double
        let floor: Double
        let ratioToFloor: Double
        let peers: [String: Double]
        let spread: Spread
        let setups: [String: String]

        init(_ comparison: Comparison, _ setups: [String: String]) {
            let peers = Dictionary(comparison.peers.map { ($0.name, $0.figure) }, uniquingKeysWith: { $1 })
            suite = comparison.suite.rawValue
            job = comparison.job
            unit = comparison.unit.rawValue
            material = comparison.material.rawValue
            size = comparison.size
            tasks = comparison.tasks
            ours = comparison.ours.median
            floor = comparison.floor.median
            ratioToFloor = comparison.ratioToFloor
            self.peers = peers.mapValues { $0.median / comparison.ours.median }
            spread = Spread(
                ours: Self.range(comparison.ours), floor: Self.range(comparison.floor),
                peers: peers.mapValues(Self.range))
            self.setups = setups
        }

        private static func range(_ figure: Figure) -> [Double] { [figure.least, figure.most] }
    }

    private struct Spread: Encodable {
        let ours: [Double]
        let floor: [Double]
        let peers: [String: [Double]]
    }
}
