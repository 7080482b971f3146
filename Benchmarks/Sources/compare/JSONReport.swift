import Contenders
import Foundation

/// Comparisons as a JSON array, for programs. Times are medians in microseconds per item; `spread`
/// holds the least and the most of each. Without a contender of ours, `ours` and `ratioToFloor` are
/// left out.
struct JSONReport {
    let text: String

    init(_ comparisons: [Comparison]) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
        text = String(decoding: try encoder.encode(comparisons.map(Entry.init)), as: UTF8.self)
    }

    private struct Entry: Encodable {
        let job: String
        let material: String
        let size: Int
        let ours: Double?
        let floor: Double
        let ratioToFloor: Double?
        let peers: [String: Double]
        let spread: Spread

        init(_ comparison: Comparison) {
            let peers = Dictionary(comparison.peers.map { ($0.name, $0.figure) }, uniquingKeysWith: { $1 })
            job = comparison.job.rawValue
            material = comparison.material.rawValue
            size = comparison.size
            ours = comparison.ours?.median
            floor = comparison.floor.median
            ratioToFloor = comparison.ratioToFloor
            self.peers = peers.mapValues(\.median)
            spread = Spread(
                ours: comparison.ours.map(Self.range), floor: Self.range(comparison.floor),
                peers: peers.mapValues(Self.range))
        }

        private static func range(_ figure: Figure) -> [Double] { [figure.least, figure.most] }
    }

    private struct Spread: Encodable {
        let ours: [Double]?
        let floor: [Double]
        let peers: [String: [Double]]
    }
}
