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
        return try catalog.reading { transaction in
            guard let item = try transaction.item(key) else { return nil }
            let policy = evictor.policy
            var before: [Victim] = []
            var seen: Set<KeyHash> = []
            var place: Int?
            while place == nil, before.count < Self.reach {
                let victims = try policy.victims(atMost: 256, passingOver: seen, in: transaction)
                guard !victims.isEmpty else { break }
                place = victims.firstIndex { $0.hash == key.hash }
                before += victims.prefix(place ?? victims.count)
                seen.formUnion(victims.map(\.hash))
            }
            let victim = try transaction.victim(key.hash)
            return EvictionOutlook(
                item: item, policy: evictor.choice, filesBefore: before.count,
                bytesBefore: before.reduce(0) { $0 + $1.chargedBytes }, isFarBack: place == nil,
                freeBytes: try CapacityReport(admission.watch.preview(transaction), transaction).freeBytes,
                isLeased: try victim.map { try !evictor.isRemovable($0) } ?? false,
                chance: knowledge.chance(
                    ofSource: item.source, age: victim?.age(at: environment.now()) ?? 0),
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
