/// What prefetching did and what it was worth, in sums: of one source on one day, or of any number of them.
///
/// The sums are those of ``Metric``; the ratios are computed from them. Only what the user does counts as use: checks of
/// digests, verification, migration and reads with `recordingUse: false` do not.
public struct PrefetchFigures: Hashable, Sendable {
    /// One sum. Bytes are bytes of content unless stated otherwise. The raw values are stored.
    public enum Metric: UInt8, Sendable, CaseIterable {
        /// Items that were stored in the cache.
        case stored = 0
        /// Bytes of these items.
        case storedBytes = 1
        /// Bytes of the files of these items, after compression.
        case storedFileBytes = 2
        /// Opens that found their item in the cache, which made it the user's file.
        case opened = 3
        /// Bytes of the items that were opened.
        case openedBytes = 4
        /// Reads that found a cached item.
        case read = 5
        /// Opens and reads that found nothing.
        case missed = 6
        /// Bytes of the items that were missed, as far as they had been in the cache before.
        case missedBytes = 7
        /// Opens and reads of files that the user already had.
        case reopened = 8
        /// Items that were used (read or opened) for the first time.
        case used = 9
        /// Bytes of the items of ``used``.
        case usedBytes = 10
        /// Items that left the cache without ever having been used.
        case wasted = 11
        /// Bytes of the items of ``wasted``.
        case wastedBytes = 12
        /// Milliseconds from storing to first use, over all ``used`` items with a known, plausible time.
        case delayMilliseconds = 13
        /// The number of these items.
        case delays = 14
        /// Items that the user asked for and that went straight to their destination.
        case delivered = 15
        /// Bytes of the items of ``delivered``.
        case deliveredBytes = 16

        /// Items that left because the volume was short of space.
        case leftUnderPressure = 20
        /// Bytes of the items of ``leftUnderPressure``.
        case leftUnderPressureBytes = 21
        /// Items that left because others needed the budget, or because it shrank.
        case leftForBudget = 22
        /// Bytes of the items of ``leftForBudget``.
        case leftForBudgetBytes = 23
        /// Items that left because they had expired.
        case leftExpired = 24
        /// Bytes of the items of ``leftExpired``.
        case leftExpiredBytes = 25
        /// Items that the app or an operator evicted.
        case leftOnRequest = 26
        /// Bytes of the items of ``leftOnRequest``.
        case leftOnRequestBytes = 27
        /// Items that a newer one of the same key replaced.
        case leftReplaced = 28
        /// Bytes of the items of ``leftReplaced``.
        case leftReplacedBytes = 29
        /// Items whose files did not hold what was stored.
        case leftDamaged = 30
        /// Bytes of the items of ``leftDamaged``.
        case leftDamagedBytes = 31
        /// Items whose files the system, or somebody else, removed. Also those that another process of the cache removed by
        /// their keys, if it was killed before it noted that, or this one found them gone first.
        case leftPurged = 32
        /// Bytes of the items of ``leftPurged``.
        case leftPurgedBytes = 33
        /// Charged bytes that were freed by evicting items, for whatever reason.
        case evictedChargedBytes = 34
        /// Items that the app or an operator removed by their keys.
        case leftRemoved = 35
        /// Bytes of the items of ``leftRemoved``.
        case leftRemovedBytes = 36

        /// Items that were refused with ``Refusal/pressure(_:)``.
        case refusedUnderPressure = 40
        /// Items that were refused with ``Refusal/overBudget(needed:budget:)``.
        case refusedOverBudget = 41
        /// Items that were refused with ``Refusal/lowPriority(_:)``.
        case refusedLowPriority = 42
        /// Items that were refused with ``Refusal/largerThanLargestItem(needed:largest:)``.
        case refusedTooLarge = 43
        /// Items that were refused with ``Refusal/alreadyPromoted``.
        case refusedOpened = 44
        /// Items that were refused with ``Refusal/disabled``.
        case refusedDisabled = 45
        /// Items that were refused with ``Refusal/lowValue``.
        case refusedLowValue = 46
        /// Items that were refused with ``Refusal/paused(source:)``.
        case refusedPaused = 47
        /// Items that were refused with ``Refusal/expired``.
        case refusedExpired = 48

        /// Bytes that a downloader fetched over the network.
        case fetchedBytes = 50
        /// Bytes of these that had been fetched before: by an earlier attempt, or for an item that left unused and is still
        /// remembered. As many of those are as items are cached, at least 100 and at most 2,000.
        case fetchedAgainBytes = 51
        /// Bytes of these that were not kept.
        case fetchedInVainBytes = 52

        /// Of the items stored on a day, those that were used since, on whatever day.
        case usedOfDay = 60
        /// Of the items stored on a day, those that were wanted after they had left unused.
        case wantedOfDay = 61
        /// Of the items stored on a day, those that a newer version replaced before they were used.
        case replacedOfDay = 62
        /// Of the items offered on a day, those that were refused for their worth or because their source is paused, each
        /// once.
        case declined = 65
        /// The sum, in thousandths, of the natural logarithms of the seconds from storing to first use or first miss, of at
        /// least 60.
        case ageLogarithms = 66
        /// The number of terms of ``ageLogarithms``.
        case ages = 67
        /// Items that were there when counting began, after a reset.
        case carried = 63
        /// Of these, the items that had not been used.
        case carriedUnused = 64
    }

    private struct Sum: Hashable, Sendable {
        let metric: Metric
        var value: Int64
    }

    /// Those that are not 0, in the order of their raw values: few, so that an array is faster than a dictionary.
    private var sums: [Sum] = []

    /// Creates figures that are all 0.
    public init() {}

    /// One sum, at least 0.
    public subscript(_ metric: Metric) -> Int64 {
        get { sums.first { $0.metric == metric }?.value ?? 0 }
        set {
            let place = sums.firstIndex { $0.metric.rawValue >= metric.rawValue } ?? sums.endIndex
            let isThere = place < sums.endIndex && sums[place].metric == metric
            switch (isThere, newValue) {
            case (true, 0): sums.remove(at: place)
            case (true, _): sums[place].value = newValue
            case (false, 0): break
            case (false, _): sums.insert(Sum(metric: metric, value: newValue), at: place)
            }
        }
    }

    /// Adds other figures. A sum that would overflow stays at the largest value.
    public mutating func add(_ other: PrefetchFigures) {
        for sum in other.sums { add(sum.value, to: sum.metric) }
    }

    mutating func add(_ value: Int64 = 1, to metric: Metric) {
        let (sum, overflow) = self[metric].addingReportingOverflow(value)
        self[metric] = overflow ? .max : sum
    }

    /// Whether all sums are 0.
    public var isEmpty: Bool { sums.isEmpty }

    /// The sums that are not 0, in the order of their raw values.
    public var all: [(metric: Metric, value: Int64)] { sums.map { ($0.metric, $0.value) } }
}

/// What follows from the sums.
extension PrefetchFigures {
    /// Opens and reads that found their item in the cache: what prefetching is for.
    public var hits: Int64 { self[.opened] + self[.read] }

    /// The share of opens and reads that found their item, from 0 to 1; `nil` when there were none. Files that the user
    /// already had do not count.
    public var hitRatio: Double? { Self.ratio(hits, of: hits + self[.missed]) }

    /// The share of the bytes wanted for the first time that were in the cache. What was never in the cache has no known
    /// size and does not count.
    public var byteHitRatio: Double? {
        Self.ratio(self[.usedBytes], of: self[.usedBytes] + self[.missedBytes])
    }

    /// The share of the items stored and no longer pending that were used: of those that were used or left unused.
    public var usedRatio: Double? { Self.ratio(self[.used], of: self[.used] + self[.wasted]) }

    /// The same by bytes.
    public var usedByteRatio: Double? {
        Self.ratio(self[.usedBytes], of: self[.usedBytes] + self[.wastedBytes])
    }

    /// Bytes that compression saved when the items were stored; negative if they grew.
    public var savedBytes: Int64 { self[.storedBytes] - self[.storedFileBytes] }

    /// The mean time from storing to first use, in seconds.
    public var meanDelay: Double? {
        self[.delays] > 0 ? Double(self[.delayMilliseconds]) / Double(self[.delays]) / 1000 : nil
    }

    /// Items that were evicted: to relieve the volume, to stay within the budget, because they had expired, or on request.
    public var evicted: Int64 {
        [Departure.pressure, .budget, .expired, .request].reduce(0) { $0 + self[$1.items] }
    }

    /// Items that are in the cache according to these figures, if they are those of all days.
    var residents: Int64 {
        self[.carried] + self[.stored] - Departure.allCases.reduce(0) { $0 + self[$1.items] }
    }

    /// Items of these that were not used yet.
    var unusedResidents: Int64 {
        self[.carriedUnused] + self[.stored] - self[.used] - self[.wasted]
    }

    private static func ratio(_ part: Int64, of whole: Int64) -> Double? {
        whole > 0 ? Double(part) / Double(whole) : nil
    }
}

/// Why an item left the cache. The raw values are stable names.
public enum Departure: String, Hashable, Sendable, CaseIterable {
    /// The user opened it: it is the user's file now.
    case opened
    /// The volume was short of space.
    case pressure
    /// Other items needed the budget, or it shrank.
    case budget
    /// Its time was over.
    case expired
    /// The app or an operator evicted it.
    case request
    /// The app or an operator removed it by its key.
    case removed
    /// A newer item of the same key was stored.
    case replaced
    /// Its file did not hold what was stored.
    case damaged
    /// The system, or somebody else, removed its file.
    case purged

    /// The sum of the items that left for this reason.
    public var items: PrefetchFigures.Metric {
        switch self {
        case .opened: .opened
        case .pressure: .leftUnderPressure
        case .budget: .leftForBudget
        case .expired: .leftExpired
        case .request: .leftOnRequest
        case .removed: .leftRemoved
        case .replaced: .leftReplaced
        case .damaged: .leftDamaged
        case .purged: .leftPurged
        }
    }

    /// The sum of their bytes.
    public var bytes: PrefetchFigures.Metric {
        switch self {
        case .opened: .openedBytes
        case .pressure: .leftUnderPressureBytes
        case .budget: .leftForBudgetBytes
        case .expired: .leftExpiredBytes
        case .request: .leftOnRequestBytes
        case .removed: .leftRemovedBytes
        case .replaced: .leftReplacedBytes
        case .damaged: .leftDamagedBytes
        case .purged: .leftPurgedBytes
        }
    }
}
