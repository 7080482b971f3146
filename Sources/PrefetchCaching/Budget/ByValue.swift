internal import PrefetchItemFormat

/// Evicts the item that is worth least: least likely to be opened still, for the space that the items of its source take.
///
/// Within a source the order is that of LRU: an item that was not used is worth the less the longer it has been there, and
/// one that was used counts as new and keeps its place, so that only the first item of each source is weighed. Where the
/// sources do not differ, the order is that of LRU altogether.
///
/// For one eviction: an instance returns no file twice.
final class ByValue: EvictionPolicy {
    /// The first item of a source that is still to be returned.
    private struct Head {
        var item: Victim
        /// What follows it, the last first, as far as that was fetched …
        var following: [Victim] = []
        /// … and how many are fetched the next time: the more, the more were needed.
        var batch = 4
    }

    private static let largestBatch = 64
    /// How far an item of an unknown source is looked for in the order of use. One that comes later is younger than so
    /// many others that it need not be weighed yet.
    private static let reach = 64

    private let knowledge: SourceKnowledge
    /// In milliseconds since 1970.
    private let now: Int64
    private var areOnlyItemsLeft = false
    private var heads: [Head] = []
    /// Items of unknown sources, in the order of use.
    private var strangers: [Victim] = []
    private var lastStranger: Int64 = -1
    /// How many more items are returned before strangers are looked for again.
    private var untilNextLook = 0
    /// The priority of the heads; below every one before the first.
    private var priority = -1.0

    init(_ knowledge: SourceKnowledge, now: Int64) {
        self.knowledge = knowledge
        self.now = now
    }

    func worth(of newcomer: Newcomer) -> Double? { knowledge.worth(ofSource: newcomer.source, age: 0) }

    func victims(
        atMost limit: Int, passingOver passedOver: Set<KeyHash>, in transaction: CatalogTransaction
    ) throws -> [Victim] {
        if !areOnlyItemsLeft {
            let first = try transaction.victimsInOrder(atMost: limit, passingOver: passedOver)
                .prefix { $0.kind != .item }
            if !first.isEmpty { return Array(first) }
            areOnlyItemsLeft = true
        }
        var victims: [Victim] = []
        while victims.count < limit {
            if let next = try next(in: transaction) {
                victims.append(next)
            } else if let following = try transaction.priority(above: priority) {
                try load(following, transaction)
            } else {
                break
            }
        }
        return victims
    }

    private func load(_ priority: Double, _ transaction: CatalogTransaction) throws {
        self.priority = priority
        (lastStranger, untilNextLook) = (-1, 0)
        heads = try firstItems(transaction).map { Head(item: weighed($0)) }
    }

    /// The first item of each known source. An app may give each item a priority of its own, so not every source is asked
    /// for where there are few items.
    private func firstItems(_ transaction: CatalogTransaction) throws -> [Victim] {
        let items = try transaction.items(ofPriority: priority, after: -1, atMost: Self.reach)
        guard items.count == Self.reach else {
            var seen: Set<SourceName> = []
            return items.filter { knowledge.knows($0.source) && seen.insert(SourceName($0.source)).inserted }
        }
        return try knowledge.names.compactMap {
            try transaction.items(ofSource: $0.text, priority: priority, after: -1, atMost: 1).first
        }
    }

    private func next(in transaction: CatalogTransaction) throws -> Victim? {
        if strangers.isEmpty, untilNextLook <= 0 || heads.isEmpty { try findStrangers(transaction) }
        untilNextLook -= 1
        let least = heads.indices.min { heads[$0].item.precedes(heads[$1].item) }
        if let stranger = strangers.first, least.map({ stranger.precedes(heads[$0].item) }) ?? true {
            return strangers.removeFirst()
        }
        guard let least else { return nil }
        let victim = heads[least].item
        try advance(least, transaction)
        return victim
    }

    private func advance(_ index: Int, _ transaction: CatalogTransaction) throws {
        let head = heads[index]
        if head.following.isEmpty {
            heads[index].following = try transaction.items(
                ofSource: head.item.source, priority: priority, after: head.item.lastUse, atMost: head.batch
            ).reversed()
            heads[index].batch = min(head.batch * 4, Self.largestBatch)
        }
        guard let item = heads[index].following.popLast() else {
            heads.remove(at: index)
            return
        }
        heads[index].item = weighed(item)
    }

    private func findStrangers(_ transaction: CatalogTransaction) throws {
        repeat {
            let items = try transaction.items(
                ofPriority: priority, after: lastStranger, atMost: Self.reach)
            guard let last = items.last else { return }
            strangers = items.filter { !knowledge.knows($0.source) }.map(weighed)
            lastStranger = last.lastUse
            // Without heads, all that is left are strangers, however late they come.
            guard !strangers.isEmpty || heads.isEmpty else {
                untilNextLook = Self.reach
                return
            }
        } while strangers.isEmpty
    }

    private func weighed(_ item: Victim) -> Victim {
        var item = item
        item.worth = knowledge.worth(ofSource: item.source, age: item.age(at: now))
        return item
    }
}

extension Victim {
    /// Whether an item that was weighed is evicted before another one.
    fileprivate func precedes(_ other: Victim) -> Bool {
        (worth ?? 0, lastUse) < (other.worth ?? 0, other.lastUse)
    }
}
