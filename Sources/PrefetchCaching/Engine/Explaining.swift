internal import PrefetchItemFormat

/// What the cache makes of its history, for people.
extension Engine {
    /// The most files that are gone through in order to find an item among them.
    private static let reach = 10_000

    func outlook() -> Outlook {
        let knowledge = history.knowledge()
        return Outlook(
            usualAge: knowledge.usualAge,
            sources: knowledge.names.sorted().compactMap { knowledge.outlook(of: $0.text) })
    }

    /// When an item would be evicted; `nil` if it is not cached.
    func evictionOutlook(of key: ItemKey) throws(CacheError) -> EvictionOutlook? {
        guard try isCached(key.hash) else { return nil }
        let knowledge = history.knowledge()
        return try catalog.simulating { transaction in
            try evictor.prepare(transaction)
            guard let item = try transaction.item(key) else { return nil }
            // Choosing changes the state of some policies.
            let (before, isFound) = try transaction.rollingBack {
                let policy = evictor.policy
                var before: [Victim] = []
                var seen: Set<KeyHash> = []
                while before.count < Self.reach {
                    let victims = try policy.victims(atMost: 256, passingOver: seen, in: transaction)
                    guard !victims.isEmpty else { break }
                    if let place = victims.firstIndex(where: { $0.hash == key.hash }) {
                        return (before + victims[..<place], true)
                    }
                    before += victims
                    seen.formUnion(victims.map(\.hash))
                }
                return (before, false)
            }
            let weighed = try transaction.weighedItem(key.hash)
            return EvictionOutlook(
                item: item, policy: evictor.choice, filesBefore: before.count,
                bytesBefore: before.reduce(0) { $0 + $1.chargedBytes }, isFarBack: !isFound,
                freeBytes: try CapacityReport(admission.watch.preview(transaction), transaction).freeBytes,
                isLeased: try weighed.map { try !evictor.isRemovable($0.victim) } ?? false,
                chance: knowledge.chance(
                    ofSource: item.source, age: weighed?.age(at: environment.now()) ?? 0),
                source: knowledge.outlook(of: item.source))
        }
    }
}

extension SourceKnowledge {
    fileprivate func outlook(of name: String) -> SourceOutlook? {
        known(name).map {
            SourceOutlook(
                source: name, openRate: $0.openRate, meanBytes: $0.usualLength, isPaused: $0.isPaused)
        }
    }
}
