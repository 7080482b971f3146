internal import ArgumentParser
internal import Foundation
internal import PrefetchCaching
internal import PrefetchFileSystem

struct Explain: CacheCommand {
    static let configuration = CommandConfiguration(
        commandName: "explain",
        abstract: "Says why an item stays in the cache, or goes next.",
        discussion: """
            Shows what would be evicted before the item, and what is known about its source. Nothing is evicted.

            EXAMPLES:
              # Say when an item would be evicted, and why
              cachectl explain episode-42 --app org.example.app
            """)

    @Argument(help: "The key of the item.", transform: ItemKey.parse)
    var key: ItemKey

    @OptionGroup var shared: SharedOptions

    var isLooking: Bool { true }

    func perform(on cache: PrefetchCache, at place: Place, to output: Output) async throws {
        guard let outlook = try await cache.evictionOutlook(of: key) else {
            if case .promoted(let file)? = try await cache.status(of: key) {
                return try output.report(
                    ["status": "promoted", "key": key.string],
                    [
                        "'\(key)' was opened and is the user's file: it is not evicted. It is \(file.path.displayText)."
                    ])
            }
            throw try await absence(of: key, in: cache)
        }
        let usualAge = try await cache.outlook().usualAge
        let figures = try await cache.history().bySource.first {
            $0.source.utf8.elementsEqual(outlook.item.source.utf8)
        }?.figures
        try output.report(
            outlook.json,
            outlook.sentences(
                wasUsed: (figures?.hits ?? 0) > 0, usualAge: usualAge, now: Timestamp.now))
    }
}

extension EvictionOutlook {
    fileprivate var json: JSONObject {
        [
            "status": "cached", "key": item.key.string, "source": item.source, "policy": policy.rawValue,
            "priority": item.priority, "filesBefore": filesBefore, "bytesBefore": bytesBefore,
            "isFarBack": isFarBack, "freeBytes": freeBytes, "isLeased": isLeased, "chance": chance,
            "openRate": (source?.openRate).orNull, "isPaused": source?.isPaused ?? false,
        ]
    }

    /// - Parameter wasUsed: Whether anything of the source was.
    fileprivate func sentences(wasUsed: Bool, usualAge: Double, now: Int64) -> [String] {
        let age = Timespan.text(seconds: Double(max(0, now &- item.storedAt)) / 1000)
        let origin = item.source.isEmpty ? "no source" : "'\(item.source.escapedForTerminal)'"
        let priority = item.priority > 0 ? ", priority \(item.priority)" : ""
        return [
            "'\(item.key)' from \(origin) was stored \(age) ago: \(Size.text(item.chargedBytes))\(priority).",
            place, isLeased ? "It is being used or pinned, and stays as long as that lasts." : nil, reason,
            prospects(wasUsed, usualAge: usualAge),
        ].compactMap { $0 }
    }

    private var place: String {
        let free = Size.text(freeBytes)
        if isFarBack {
            return "It stays: more than \(Count.text(Int64(filesBefore), "file")) would go before it."
        }
        guard filesBefore > 0 else { return "It goes next, once more than \(free) are needed." }
        return
            "\(Count.text(Int64(filesBefore), "file")) (\(Size.text(bytesBefore))) would go before it, and \(free) are "
            + "free: it goes once more than \(Size.text(freeBytes + bytesBefore)) are needed."
    }

    private var reason: String {
        let order =
            switch policy {
            case .lru: "what was not used for longest goes first"
            case .fifo: "what was stored first goes first"
            case .sieve: "what was not used since the hand last passed goes first, oldest first"
            case .value:
                "what is least likely to be opened still, for its space, goes first; within a source, what was "
                    + "not used for longest"
            }
        return "The policy is \(policy.rawValue): of the lowest priority, \(order)."
    }

    private func prospects(_ wasUsed: Bool, usualAge: Double) -> String {
        let percent = { (part: Double) in "\(Int((part * 100).rounded())) %" }
        guard let source else {
            return "Too little is known about its source; by all sources, it is expected to be opened with a "
                + "probability of \(percent(chance))."
        }
        let record =
            wasUsed
            ? "Of what this source sends, some \(percent(source.openRate)) is opened, and half of what is opened within "
                + Timespan.text(seconds: usualAge)
            : "Nothing of this source was opened yet, so that \(percent(source.openRate)) is a guess by other sources"
        return record + "; this item is expected to be opened with a probability of \(percent(chance))."
            + (source.isPaused ? " A downloader with a gate does not download from this source for now." : "")
    }
}
