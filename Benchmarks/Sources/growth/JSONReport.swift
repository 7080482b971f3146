import Contenders
import Foundation

/// One object per number of items, for programs. `ratios` are to the smallest number.
struct JSONReport {
    let text: String

    init(_ rows: [Row]) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
        text = String(decoding: try encoder.encode(rows.map(Entry.init)), as: UTF8.self)
    }

    private struct Entry: Encodable {
        let items: Int
        let filledItemsPerSecond: Double
        let filledItemsPerSecondInLastTenth: Double
        let memoryAboveEmptyMebibytes: Spread
        let figures: [String: Spread]
        let ratios: [String: Double]
        let targets: [String: Held]

        init(_ row: Row) {
            items = row.count
            filledItemsPerSecond = row.fill.itemsPerSecond
            filledItemsPerSecondInLastTenth = row.fill.itemsPerSecondAtEnd
            memoryAboveEmptyMebibytes = Spread(row.memory)
            figures = Dictionary(
                uniqueKeysWithValues: row.figures.map { ($0.key.rawValue, Spread($0.value)) })
            ratios = Dictionary(uniqueKeysWithValues: row.ratios.map { ($0.key.rawValue, $0.value) })
            targets = Dictionary(
                uniqueKeysWithValues: Target.all.compactMap { target in
                    target.value(row).map {
                        (target.name, Held(value: $0, most: target.most, isHeld: $0 <= target.most))
                    }
                })
        }
    }

    private struct Held: Encodable {
        let value: Double
        let most: Double
        let isHeld: Bool
    }

    private struct Spread: Encodable {
        let median: Double
        let least: Double
        let most: Double

        init(_ figure: Figure) {
            median = figure.median
            least = figure.least
            most = figure.most
        }
    }
}
