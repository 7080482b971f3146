import Contenders
import Foundation

/// Tables for people: medians, with the least and the most in brackets, and ratios to the first row.
struct TableReport {
    let text: String

    init(_ rows: [Row]) {
        let sections = [
            Self.table(
                rows,
                [
                    Column("launch ms", .launch, digits: 2), Column("first read µs", .firstRead),
                    .ratio(.firstRead),
                    Column("memory MiB", digits: 1) { $0.memory },
                ]),
            Self.table(
                rows,
                [
                    Column("first statistics() ms", .firstStatistics, digits: 1),
                    Column("statistics() µs", .statistics), .ratio(.statistics),
                    Column("items() ms", .items, digits: 1),
                    Column("with items() MiB", .residentWithItems, digits: 0),
                ]),
            Self.table(
                rows,
                [
                    Column("store µs", .storeMedian, digits: 1), .ratio(.storeMedian),
                    Column("p99 µs", .storeP99), .ratio(.storeP99), Column("stores/s", .storeRate),
                    .ratio(.storeRate), Column("flush ms", .flush, digits: 1),
                    Column("floor µs", .floorMedian, digits: 1), .ratio(.floorMedian),
                    Column("store ÷ floor", .storeToFloor, digits: 2),
                ]),
            Self.table(
                rows,
                [
                    Column("evict µs/item", .evict, digits: 1), .ratio(.evict),
                    Column("by value", .evictByValue, digits: 1), Column("÷ LRU", .valueToLRU, digits: 2),
                    Column("read after crash µs", .readAfterCrash),
                    Column("statistics() after crash ms", .statisticsAfterCrash, digits: 1),
                    Column(title: "filled items/s") { String(format: "%.0f", $0.fill.itemsPerSecond) },
                    Column(title: "last tenth") { String(format: "%.0f", $0.fill.itemsPerSecondAtEnd) },
                ]),
            Target.all.compactMap { target in
                target.worst(of: rows).map { worst in
                    "\(target.name) ≤ \(target.limit): "
                        + (worst.value <= target.most ? "held" : "MISSED")
                        + String(format: ", at most %.2f", worst.value) + " (\(worst.count) items)"
                }
            }.joined(separator: "\n"),
        ]
        text = sections.joined(separator: "\n\n")
    }

    private struct Column {
        let title: String
        let cell: (Row) -> String

        init(title: String, cell: @escaping (Row) -> String) {
            self.title = title
            self.cell = cell
        }

        init(_ title: String, digits: Int = 0, figure: @escaping (Row) -> Figure?) {
            self.init(title: title) { row in
                guard let figure = figure(row) else { return "–" }
                func text(_ value: Double) -> String { String(format: "%.\(digits)f", value) }
                return "\(text(figure.median)) (\(text(figure.least))–\(text(figure.most)))"
            }
        }

        init(_ title: String, _ metric: Metric, digits: Int = 0) {
            self.init(title, digits: digits) { $0.figures[metric] }
        }

        static func ratio(_ metric: Metric) -> Column {
            Column(title: "×") { row in row.ratios[metric].map { String(format: "%.2f", $0) } ?? "–" }
        }
    }

    private static func table(_ rows: [Row], _ columns: [Column]) -> String {
        let columns = [Column(title: "items") { String($0.count) }] + columns
        return textTable(
            [columns.map(\.title)] + rows.map { row in columns.map { $0.cell(row) } }, leading: 0)
    }
}
