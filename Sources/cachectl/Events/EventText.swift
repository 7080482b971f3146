internal import PrefetchCaching

/// An entry of the journal in words. Nothing is escaped.
extension JournalEntry {
    /// The size that tells most: of the content or, where there is none, what was charged; `nil` if there is neither.
    var size: String? {
        kind == .budget
            ? Size.text(chargedBytes) : contentBytes > 0 ? Size.text(contentBytes) : nil
    }

    /// Why it happened, or what it means; empty where the kind says it all.
    var why: String {
        switch kind {
        case .stored, .delivered: ""
        case .opened: wasRead ? "the user's file now" : "the user's file now, for the first use"
        case .read: times
        case .missed: storedAt == nil ? times : ["it was cached before", times].joined(", ")
        case .left:
            [departure?.words ?? reason, wasRead || departure == .replaced ? "" : "never used"].joined(", ")
        case .reopened: ["the user has it already", times].joined(", ")
        case .refused: Self.refusals[reason] ?? reason
        case .pressure: "the level is \(reason) now"
        case .budget: "from now on"
        case .rebuilt: "the catalog was rebuilt from \(Count.text(count, "item"))"
        case .itemsLost: "\(Count.text(count, "item")) vanished with the catalog"
        case .entriesLost: "\(Count.text(count, "earlier event")) dropped from the journal"
        }
    }

    private var times: String { count == 1 ? "" : "\(count) times" }

    private static let refusals = [
        "pressure": "the volume is short of space", "overBudget": "it does not fit into the budget",
        "lowPriority": "only items of a higher priority could make room",
        "largerThanLargestItem": "it is larger than the largest item that is allowed",
        "lowValue": "what could make room is worth at least as much",
        "paused": "its source is paused, since its items are not opened",
        "alreadyPromoted": "the user has it already", "disabled": "storing is switched off",
        "expired": "its time was over already",
    ]

    /// `2026-03-01T12:00:00Z  left       1.2 MiB  KEY  [SOURCE]  evicted for the budget, never used`
    var line: String {
        func spaces(_ columns: Int, besides text: String) -> String {
            String(repeating: " ", count: max(0, columns - text.count))
        }
        let (kind, size) = (kind.rawValue, size ?? "")
        let head =
            "\(Timestamp.text(milliseconds: time))  \(kind)\(spaces(11, besides: kind))  "
            + spaces(8, besides: size) + size
        return [head, key, source.isEmpty ? "" : "[\(source)]", why].joined("  ")
    }

    var json: JSONObject {
        [
            "event": kind.rawValue, "timeMilliseconds": time, "count": count, "key": key.nonEmpty,
            "source": source.nonEmpty, "reason": reason.nonEmpty,
            "contentBytes": contentBytes > 0 ? contentBytes : nil,
            "chargedBytes": chargedBytes > 0 || kind == .budget ? chargedBytes : nil,
            "storedAtMilliseconds": storedAt,
            "wasRead": kind == .left || kind == .opened ? wasRead : nil,
        ]
    }
}

extension Departure {
    var words: String {
        switch self {
        case .opened: "opened by the user"
        case .pressure: "evicted, since the volume is short of space"
        case .budget: "evicted for the budget"
        case .expired: "expired"
        case .request: "evicted on request"
        case .removed: "evicted by key"
        case .replaced: "replaced by a newer one"
        case .damaged: "damaged"
        case .purged: "purged by the system or by others"
        }
    }

    var isEviction: Bool { [.pressure, .budget, .request, .removed].contains(self) }
}

extension [String] {
    /// The texts that are not empty.
    fileprivate func joined(_ separator: String) -> String {
        filter { !$0.isEmpty }.joined(separator: separator)
    }
}

extension String {
    fileprivate var nonEmpty: String? { isEmpty ? nil : self }
}
