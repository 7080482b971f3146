public import PrefetchItemFormat
public import PrefetchVolumeCapacity

/// The outcome of storing an item.
public enum StoreOutcome: Hashable, Sendable {
    /// The item is in the cache.
    case stored(ItemSummary)
    /// The user had asked for the item, and it went straight to its destination.
    case delivered(PromotedFile)
    /// The item was not stored.
    case refused(Refusal)
}

/// One line for logs. Contains no key; a path only of what was delivered.
extension StoreOutcome: CustomStringConvertible {
    public var description: String {
        switch self {
        case .stored(let item): "stored \(item.contentBytes) bytes as \(item.storedBytes)"
        case .delivered(let file): "delivered \(file.contentBytes) bytes to \(file.path)"
        case .refused(let refusal): "refused (\(refusal.reason)): \(refusal)"
        }
    }
}

/// Why an item was not stored. A refusal before the first byte evicts no other item. None is an error: the app may try
/// again later.
public enum Refusal: Hashable, Sendable {
    /// The volume is short of space.
    case pressure(Pressure)
    /// The item does not fit into the budget in addition to what cannot be evicted. `needed` is what the item would be
    /// charged, as far as that is known, and `budget` the most that all files may be charged now, both in bytes.
    case overBudget(needed: Int64, budget: Int64)
    /// Only items of a priority above this one, the item's own, could make room.
    case lowPriority(Float)
    /// Everything that could make room is worth at least as much: the item is only for free space
    /// (``AdmissionMode/onlyIntoFreeSpace``), what its downloader wants more is in the cache, or, under the policy
    /// ``EvictionPolicyChoice/value``, the items cached are more likely to be opened.
    case lowValue
    /// Items of this source are not downloaded for now, since they are not opened: a downloader's gate is closed.
    case paused(source: String)
    /// The item alone exceeds the most that one item may be charged, in bytes.
    case largerThanLargestItem(needed: Int64, largest: Int64)
    /// The user has opened this key; its file is theirs and is not replaced.
    case alreadyPromoted
    /// The item's ``ItemMetadata/expirationDate`` was over before it was complete: it would not be served.
    case expired
    /// Storing is switched off, see ``CacheConfiguration/isStoringEnabled``.
    case disabled

    /// The volume, or a quota on it, is full.
    static let full = Refusal.pressure(.critical)

    /// A stable name, by which refusals are counted.
    public var reason: String { counted.reason }

    /// The name, and the sum of which the refusal is part.
    var counted: (reason: String, metric: PrefetchFigures.Metric) {
        switch self {
        case .pressure: Self.reasons[0]
        case .overBudget: Self.reasons[1]
        case .lowPriority: Self.reasons[2]
        case .largerThanLargestItem: Self.reasons[3]
        case .alreadyPromoted: Self.reasons[4]
        case .disabled: Self.reasons[5]
        case .lowValue: Self.reasons[6]
        case .paused: Self.reasons[7]
        case .expired: Self.reasons[8]
        }
    }

    package static let reasons: [(reason: String, metric: PrefetchFigures.Metric)] = [
        ("pressure", .refusedUnderPressure), ("overBudget", .refusedOverBudget),
        ("lowPriority", .refusedLowPriority), ("largerThanLargestItem", .refusedTooLarge),
        ("alreadyPromoted", .refusedOpened), ("disabled", .refusedDisabled),
        ("lowValue", .refusedLowValue), ("paused", .refusedPaused),
        ("expired", .refusedExpired),
    ]
}

extension Refusal: CustomStringConvertible {
    public var description: String {
        switch self {
        case .pressure(let level): "the volume is short of space (\(level.rawValue))"
        case .overBudget(let needed, let budget):
            "\(needed) bytes do not fit into the budget of \(budget) bytes in addition to the catalog and "
                + "what may not be evicted"
        case .lowPriority(let priority):
            "only items of a higher priority than \(priority) could make room"
        case .lowValue: "what could make room is worth at least as much, or comes first in the same list"
        case .paused(let source):
            "'\(source)' is paused, since its last items were not opened"
        case .largerThanLargestItem(let needed, let largest):
            "the item takes \(needed) bytes; one item may take at most \(largest), by default half the budget"
        case .alreadyPromoted: "the item was opened before and is now the user's file"
        case .expired: "its time is over already"
        case .disabled: "storing is switched off"
        }
    }
}

/// What to do when content is stored whose key was already opened, so that its file belongs to the user.
public enum WhenPromoted: Hashable, Sendable {
    /// Store nothing: the content is refused with ``Refusal/alreadyPromoted``.
    case leave
    /// Cache the content, and forget the record of the first open at the moment it is complete. The file stays where it is;
    /// when the key is opened again, the new version is placed next to it under the next free name.
    case storeAgain
    /// Put the content in the place of the file, or of the folder of a bundle, if the user has not changed it: in one step, so
    /// that one of the two versions is there at every moment, complete and durable. A file that was changed, moved or
    /// deleted, that was there before, that another key was promoted to, or that was opened only while the content was
    /// being stored, is left, and the content refused.
    ///
    /// The content goes straight to the destination, whatever its intent; if that is opportunistic, only while the volume is
    /// not under pressure. What a program has open stays readable by it.
    case replaceIfUnmodified
}
