/// Computes how much of a volume an opportunistic cache may use, based on its size and free space.
///
/// With total T, available A, own bytes U and other purgeable bytes P:
///
///     low           = min(5 % of T, 500 MiB)
///     reserve       = min(15 % of T, 4 GiB)
///     important     = A + U + P − low, from 0 to T
///     opportunistic = A − reserve, from 0 to important
///     share         = 25 % of the first 4 GiB of U + A, 10 % of 4 to 64 GiB, 2.5 % of what is above
///     budget        = the smallest of U + A − reserve, share and 16 GiB, the first two rounded down to a quantum
///     quantum       = min(16 MiB, T ÷ 1024)
///
/// Because only U + A enters the budget, filling or trimming the cache does not change it.
/// The numbers in the formulas are the constants below. Amounts are in bytes, ratios in thousandths. No step uses
/// floating point or overflows.
///
/// A model is encoded as an object with the names of the constants. Missing constants have their defaults, so that a
/// configuration needs only those that it changes; unknown names are ignored.
///
/// If the system reports an opportunistic amount, it replaces A − reserve, in the budget as well.
///
/// - Important: A model may come from a file: check its ``problem`` before using it. A model with a problem does not
///   trap, and its budget is still between 0 and the total.
public struct CapacityModel: Hashable, Sendable {
    /// The fraction of free space below which the volume is nearly full, in thousandths. Default 50 (5 %). Range: 0 to
    /// 1000.
    ///
    /// Source: `DEFAULT_THRESHOLD_PERCENTAGE` of Android's `StorageManager`.
    public var lowPerMille: Int64 = 50
    /// The largest value of ``Capacity/low``, in bytes. Default 500 MiB. Range: 0 or more.
    ///
    /// Source: `DEFAULT_THRESHOLD_MAX_BYTES` of Android's `StorageManager`.
    public var lowLimit: Int64 = 500 << 20

    /// The fraction of the volume that opportunistic items must leave free, in thousandths. Default 150 (15 %). Range:
    /// 0 to 1000.
    ///
    /// Source: the default of `SystemKeepFree=` in the manual journald.conf(5).
    public var reservePerMille: Int64 = 150
    /// The largest value of ``Capacity/reserve``, in bytes. Default 4 GiB. Range: 0 or more.
    ///
    /// Source: the default of `SystemKeepFree=` in the manual journald.conf(5).
    public var reserveLimit: Int64 = 4 << 30

    /// The end of the first tier of the share, in bytes of ``Capacity/ownOrFree``. Default 4 GiB. Range: 0
    /// or more. The tiers are this library's choice.
    public var firstShareEnd: Int64 = 4 << 30
    /// The share of the first tier, in thousandths. Default 250 (25 %). Range: 0 to 1000.
    public var firstSharePerMille: Int64 = 250
    /// The end of the second tier, in bytes. Default 64 GiB. Range: ``firstShareEnd`` or more.
    public var secondShareEnd: Int64 = 64 << 30
    /// The share of the second tier, in thousandths. Default 100 (10 %). Range: 0 to 1000.
    public var secondSharePerMille: Int64 = 100
    /// The share of the remaining bytes, in thousandths. Default 25 (2.5 %). Range: 0 to 1000.
    public var lastSharePerMille: Int64 = 25

    /// The largest rounding step of a budget, in bytes. Default 16 MiB. Range: 1 or more. Rounding prevents a budget
    /// from changing with every block that another program writes. This library's choice.
    public var quantumLimit: Int64 = 16 << 20
    /// The divisor of the total that gives the rounding step on a small volume. Default 1024. Range: 1 or
    /// more. This library's choice.
    public var quantumDivisor: Int64 = 1024
    /// The largest budget on any volume, in bytes. Default 16 GiB. Range: 0 or more. This library's choice.
    public var cap: Int64 = 16 << 30
    /// The minimum growth for which a budget is raised, in thousandths of the current budget. Default 50 (5 %). Range:
    /// 0 to 1000. This library's choice.
    public var growthPerMille: Int64 = 50

    /// Pressure is elevated below this many thousandths of the reserve. Default 1000. Range: 0 or more. The
    /// factors of all levels are this library's choice.
    public var elevatedEnterPerMille: Int64 = 1000
    /// Elevated pressure ends at this many thousandths of the reserve. Default 1100. Range:
    /// ``elevatedEnterPerMille`` or more.
    public var elevatedLeavePerMille: Int64 = 1100
    /// Pressure is low below this many thousandths of the low mark. Default 1500. Range:
    /// ``criticalEnterPerMille`` or more.
    public var lowEnterPerMille: Int64 = 1500
    /// Low pressure ends at this many thousandths of the low mark. Default 2000. Range:
    /// ``lowEnterPerMille`` or more.
    public var lowLeavePerMille: Int64 = 2000
    /// Pressure is critical below this many thousandths of the low mark. Default 1000. Range: 0 or more.
    public var criticalEnterPerMille: Int64 = 1000
    /// Critical pressure ends at this many thousandths of the low mark. Default 1500. Range:
    /// ``criticalEnterPerMille`` or more.
    public var criticalLeavePerMille: Int64 = 1500

    /// The bytes that opportunistic items must leave free on a volume of any size; `nil` if that depends on its size, as by
    /// default. It is ``reserveLimit`` when ``reservePerMille`` is 1000.
    public var fixedReserve: Int64? {
        get { reservePerMille == 1000 ? reserveLimit : nil }
        set {
            reservePerMille = newValue == nil ? Self().reservePerMille : 1000
            reserveLimit = newValue ?? Self().reserveLimit
        }
    }

    /// Creates the model with its defaults.
    public init() {}
}

extension CapacityModel {
    /// Computes how much of the volume in `state` a cache may use, with every step of the derivation.
    ///
    /// All amounts are non-decreasing in the available bytes.
    ///
    /// - Parameter cap: The caller's limit in bytes, which applies if it is smaller than the model's. Negative values
    ///   count as 0.
    public func capacity(of state: VolumeState, cap: Int64? = nil) -> Capacity {
        let state = state.sanitized
        let (total, available, own) = (state.total, state.available, state.evictable)
        let reported = state.reported
        let low = low(total: total)
        let reserve = reserve(total: total)

        let reclaimable = Int128(available) + Int128(own) + Int128(state.purgeable)
        let important =
            reported?.important ?? Int64(clamping: reclaimable - Int128(low)).clamped(0, total)
        let opportunistic = (reported?.opportunistic ?? available - reserve).clamped(0, important)

        let ownOrFree = Int64(clamping: min(Int128(own) + Int128(available), Int128(total)))
        let share = share(of: ownOrFree)
        let room: Int64 =
            if reported?.opportunistic == nil {
                max(0, ownOrFree - reserve)
            } else {
                Int64(clamping: min(Int128(own) + Int128(opportunistic), Int128(total)))
            }
        let cap = max(0, min(cap ?? self.cap, self.cap))
        let quantum = quantum(total: total)
        let smallest = min(room, share, cap)

        return Capacity(
            state: state, low: low, reserve: reserve, ownOrFree: ownOrFree, important: important,
            opportunistic: opportunistic, share: share, room: room, cap: cap, quantum: quantum,
            // What somebody has set as the limit is it to the byte, and on a large volume may be less than a quantum.
            budget: smallest == cap ? cap : smallest / quantum * quantum,
            isImportantReported: reported?.important != nil,
            isOpportunisticReported: reported?.opportunistic != nil,
            thresholds: thresholds(low: low, reserve: reserve))
    }

    /// The budget that replaces `current` when the volume now allows `new`. It shrinks immediately, but grows only if
    /// `new` is larger by at least ``growthPerMille``, so that it does not change with every file that another program
    /// deletes.
    ///
    /// - Parameter current: The current budget in bytes; `nil` if there is none yet. From `nil` and 0 the budget grows
    ///   immediately.
    public func budget(from current: Int64?, to new: Int64) -> Int64 {
        let new = max(0, new)
        guard let current = current.map({ max(0, $0) }), new > current else { return new }
        let growth = Int128(new - current) * 1000
        return growth >= Int128(current) * Int128(max(0, growthPerMille)) ? new : current
    }

    func low(total: Int64) -> Int64 { max(0, min(total.perMille(lowPerMille), lowLimit)) }

    func reserve(total: Int64) -> Int64 { max(0, min(total.perMille(reservePerMille), reserveLimit)) }

    private func quantum(total: Int64) -> Int64 { max(1, min(quantumLimit, total / max(1, quantumDivisor))) }

    private func share(of amount: Int64) -> Int64 {
        let firstEnd = max(0, firstShareEnd)
        let secondEnd = max(firstEnd, secondShareEnd)
        let first = min(amount, firstEnd).perMille(firstSharePerMille)
        let second = (min(amount, secondEnd) - firstEnd).perMille(secondSharePerMille)
        let last = (amount - secondEnd).perMille(lastSharePerMille)
        return Int64(clamping: Int128(first) + Int128(second) + Int128(last))
    }

    /// The pressure on the volume in `state`. Uses only its total and available bytes.
    ///
    /// - Parameter last: The level that this function returned last; initially `normal`.
    public func pressure(of state: VolumeState, after last: Pressure) -> Pressure {
        let state = state.sanitized
        return thresholds(low: low(total: state.total), reserve: reserve(total: state.total))
            .level(at: state.available, after: last)
    }

    func thresholds(low: Int64, reserve: Int64) -> PressureThresholds {
        PressureThresholds(
            elevated: .init(
                enter: reserve.perMille(elevatedEnterPerMille),
                leave: reserve.perMille(elevatedLeavePerMille)),
            low: .init(enter: low.perMille(lowEnterPerMille), leave: low.perMille(lowLeavePerMille)),
            critical: .init(
                enter: low.perMille(criticalEnterPerMille), leave: low.perMille(criticalLeavePerMille)))
    }
}

extension CapacityModel {
    /// A constant's name in a configuration, property and range.
    struct Constant: Sendable {
        let name: String
        let path: any WritableKeyPath<CapacityModel, Int64> & Sendable
        let range: ClosedRange<Int64>
    }

    private static let ratio: ClosedRange<Int64> = 0...1000
    private static let atLeast0: ClosedRange<Int64> = 0...Int64.max
    private static let atLeast1: ClosedRange<Int64> = 1...Int64.max

    static let constants: [Constant] = [
        Constant(name: "lowPerMille", path: \.lowPerMille, range: ratio),
        Constant(name: "lowLimit", path: \.lowLimit, range: atLeast0),
        Constant(name: "reservePerMille", path: \.reservePerMille, range: ratio),
        Constant(name: "reserveLimit", path: \.reserveLimit, range: atLeast0),
        Constant(name: "firstShareEnd", path: \.firstShareEnd, range: atLeast0),
        Constant(name: "firstSharePerMille", path: \.firstSharePerMille, range: ratio),
        Constant(name: "secondShareEnd", path: \.secondShareEnd, range: atLeast0),
        Constant(name: "secondSharePerMille", path: \.secondSharePerMille, range: ratio),
        Constant(name: "lastSharePerMille", path: \.lastSharePerMille, range: ratio),
        Constant(name: "quantumLimit", path: \.quantumLimit, range: atLeast1),
        Constant(name: "quantumDivisor", path: \.quantumDivisor, range: atLeast1),
        Constant(name: "cap", path: \.cap, range: atLeast0),
        Constant(name: "growthPerMille", path: \.growthPerMille, range: ratio),
        Constant(name: "elevatedEnterPerMille", path: \.elevatedEnterPerMille, range: atLeast0),
        Constant(name: "elevatedLeavePerMille", path: \.elevatedLeavePerMille, range: atLeast0),
        Constant(name: "lowEnterPerMille", path: \.lowEnterPerMille, range: atLeast0),
        Constant(name: "lowLeavePerMille", path: \.lowLeavePerMille, range: atLeast0),
        Constant(name: "criticalEnterPerMille", path: \.criticalEnterPerMille, range: atLeast0),
        Constant(name: "criticalLeavePerMille", path: \.criticalLeavePerMille, range: atLeast0),
    ]

    /// Pairs of constants in which the second must be at least the first.
    private static let ascending = [
        ("firstShareEnd", "secondShareEnd"), ("elevatedEnterPerMille", "elevatedLeavePerMille"),
        ("lowEnterPerMille", "lowLeavePerMille"), ("criticalEnterPerMille", "criticalLeavePerMille"),
        ("criticalEnterPerMille", "lowEnterPerMille"),
    ]

    /// Why this model cannot be used, in one sentence; `nil` if it can.
    public var problem: String? {
        var values: [String: Int64] = [:]
        for constant in Self.constants {
            let (value, range) = (self[keyPath: constant.path], constant.range)
            let bound =
                value < range.lowerBound ? "at least \(range.lowerBound)" : "at most \(range.upperBound)"
            guard range.contains(value) else { return "\(constant.name) is \(value); it must be \(bound)" }
            values[constant.name] = value
        }
        for (one, other) in Self.ascending {
            if let first = values[one], let second = values[other], second < first {
                return "\(other) is \(second); it must be at least \(one), which is \(first)"
            }
        }
        return nil
    }
}

/// A coding key with an arbitrary name.
package struct AnyCodingKey: CodingKey {
    package let stringValue: String
    package var intValue: Int? { nil }

    package init(stringValue: String) { self.stringValue = stringValue }
    package init?(intValue _: Int) { nil }
}

extension CapacityModel: Codable {
    /// The names of all constants.
    package static var names: [String] { constants.map(\.name) }

    /// Decodes a model. Constants that are missing or `null` have their defaults; unknown names are ignored.
    public init(from decoder: any Decoder) throws {
        self.init()
        let values = try decoder.container(keyedBy: AnyCodingKey.self)
        for constant in Self.constants {
            let name = AnyCodingKey(stringValue: constant.name)
            if let value = try values.decodeIfPresent(Int64.self, forKey: name) {
                self[keyPath: constant.path] = value
            }
        }
    }

    /// Encodes all constants, including those with default values.
    public func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: AnyCodingKey.self)
        for constant in Self.constants {
            try values.encode(self[keyPath: constant.path], forKey: AnyCodingKey(stringValue: constant.name))
        }
    }
}

extension Int64 {
    /// `factor` thousandths of this amount, rounded down; saturates instead of overflowing. A negative
    /// amount or factor counts as 0.
    package func perMille(_ factor: Int64) -> Int64 {
        Int64(clamping: Int128(Swift.max(0, self)) * Int128(Swift.max(0, factor)) / 1000)
    }

    /// This amount, clamped to the bounds. If `upper` is less than `lower`, returns `lower`.
    func clamped(_ lower: Int64, _ upper: Int64) -> Int64 {
        Swift.max(lower, Swift.min(self, upper))
    }
}
