import FileSystemTestSupport
import Foundation

@testable import PrefetchCaching

/// What a child process finds in a container, and what it is to do there.
struct PromotionPlan: Sendable {
    /// Its text, with the moment of the end, is what a failure is repeated with.
    let name: String
    let items: [PlannedItem]
    /// Whether nothing was ever promoted before, so that there is no ledger yet.
    var isFirst = false

    static func random(seed: UInt64, items count: Int) throws -> PromotionPlan {
        var generator = SeededGenerator(seed: seed)
        let items = try (0..<count).map { try PlannedItem.random($0, using: &generator) }
        return PromotionPlan(name: "seed \(seed)", items: items)
    }

    /// Every kind of item under every kind of name, one by one.
    static func all() throws -> [PromotionPlan] {
        let key = ItemKey("Doc.txt")
        var items = [
            "lz4, large": PlannedItem(key, cached: .lz4, length: 1_300_000),
            "lz4, unseen": PlannedItem(key, cached: .lz4, area: .applicationSupport),
            "identity, unseen": PlannedItem(key, cached: .identity, area: .applicationSupport),
            "identity, opened again": PlannedItem(key, cached: .identity, opens: 2),
            "delivered over a cached one": PlannedItem(key, cached: .lz4, isDelivered: true),
            "bundle, lz4": PlannedItem(key, cached: .lz4, isBundle: true),
            "bundle, identity, foreign": PlannedItem(key, cached: .identity, name: .foreign, isBundle: true),
            "bundle, opened again": PlannedItem(key, cached: .lz4, isBundle: true, opens: 2),
            "bundle, delivered": PlannedItem(key, cached: nil, isDelivered: true, isBundle: true),
        ]
        for name in PlannedItem.Name.allCases {
            for encoding in [ItemEncoding.lz4, .identity] {
                items["\(encoding), \(name)"] = PlannedItem(key, cached: encoding, name: name)
            }
            items["delivered, \(name)"] = PlannedItem(key, cached: nil, isDelivered: true, name: name)
        }
        let first = PromotionPlan(
            name: "first of all", items: [PlannedItem(key, cached: .identity)], isFirst: true)
        return [first]
            + items.sorted { $0.key < $1.key }.map { PromotionPlan(name: $0.key, items: [$0.value]) }
    }

    func arguments(in container: TemporaryContainer) -> [String] {
        items.flatMap { item in
            let open = Array(repeating: "open=\(item.key)", count: item.opens)
            return item.isDelivered
                ? ["deliver=\(item.key)=\(container.source(of: item).path)"] + open : open
        }
    }

    /// The same items, just opened.
    var openings: [String] { items.map { "open=\($0.key)" } }
}

extension TemporaryContainer {
    var sources: URL { root.appending(path: "requested") }

    func source(of item: PlannedItem) -> URL { sources.appending(path: item.fileName) }

    /// The folder of the files that items of an area become.
    func destinations(in area: Area) -> URL {
        switch area {
        case .documents: documents
        case .iCloudDrive: iCloudDrive
        default: support.appending(path: "files")
        }
    }

    func destination(of item: PlannedItem) -> URL {
        destinations(in: item.area).appending(path: item.fileName)
    }
}
