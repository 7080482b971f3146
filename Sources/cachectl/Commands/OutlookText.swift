internal import PrefetchCaching

/// Why an item stays in the cache, or goes next.
extension EvictionOutlook {
    var json: JSONObject {
        [
            "policy": policy.rawValue, "filesBefore": filesBefore, "bytesBefore": bytesBefore,
            "isFarBack": isFarBack, "freeBytes": freeBytes, "isLeased": isLeased, "chance": chance,
            "openRate": (source?.openRate).orNull, "isPaused": source?.isPaused ?? false,
        ]
    }

    /// - Parameter wasUsed: Whether anything of the source was.
    func sentences(wasUsed: Bool, usualAge: Double) -> [String] {
        [
            turn, isLeased ? "It is being used or pinned, and stays as long as that lasts." : nil, reason,
            prospects(wasUsed, usualAge: usualAge),
        ].compactMap { $0 }
    }

    /// How soon it goes.
    var turn: String {
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
