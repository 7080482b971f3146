import Contenders
import Foundation

/// What one process finds out.
enum Metric: String {
    /// In milliseconds.
    case launch, firstStatistics, items, statisticsAfterCrash
    /// In microseconds; the floor's is the same content by system calls alone, in the same folders.
    case firstRead, store, floorStore, evict
    /// In mebibytes: after launch, first read and first statistics, and with the answer of `items()` in memory.
    case resident, residentWithItems
    case storeToFloor
}

typealias Readings = [Metric: [Double]]

/// What came of one number of items.
struct Row {
    private let count: Int
    private let figures: [Metric: Figure]
    /// To the smallest number of items: the median of the rounds' ratios.
    private let ratios: [Metric: Double]
    /// Above that of a process with an empty cache.
    private let memory: Figure

    init(_ count: Int, _ samples: Readings, _ smallest: Readings, baseline: Readings) {
        self.count = count
        var (figures, ratios): ([Metric: Figure], [Metric: Double]) = ([:], [:])
        for (metric, values) in samples {
            guard let least = smallest[metric] else { continue }
            figures[metric] = Figure(values)
            ratios[metric] = Figure(zip(values, least).map { $0 / $1 }).median
        }
        (self.figures, self.ratios) = (figures, ratios)
        memory = Figure(zip(samples[.resident] ?? [], baseline[.resident] ?? []).map { $0 - $1 })
    }

    /// Tables for people: medians, with the least and the most in brackets, and ratios to the first row.
    static func report(_ rows: [Row]) -> String {
        let tables: [[(title: String, cell: (Row) -> String)]] = [
            [
                column("launch ms", .launch, 2), column("first read µs", .firstRead), ratio(.firstRead),
                ("memory MiB", { $0.memory.text(digits: 1) }),
                column("first statistics() ms", .firstStatistics, 1),
                column("after a crash ms", .statisticsAfterCrash, 1),
            ],
            [
                column("store µs", .store, 1), ratio(.store), column("floor µs", .floorStore, 1),
                ratio(.floorStore), column("store ÷ floor", .storeToFloor, 2),
                column("evict µs/item", .evict, 1), ratio(.evict), column("items() ms", .items, 1),
                column("with items() MiB", .residentWithItems),
            ],
        ]
        return tables.map { columns in
            textTable(
                [["items"] + columns.map(\.title)]
                    + rows.map { row in [String(row.count)] + columns.map { $0.cell(row) } }, leading: 0)
        }.joined(separator: "\n\n")
    }

    private static func column(_ title: String, _ metric: Metric, _ digits: Int = 0) -> (
        title: String, cell: (Row) -> String
    ) {
        (title, { $0.figures[metric]?.text(digits: digits) ?? "–" })
    }

    private static func ratio(_ metric: Metric) -> (title: String, cell: (Row) -> String) {
        ("×", { row in row.ratios[metric].map { String(format: "%.2f", $0) } ?? "–" })
    }
}
