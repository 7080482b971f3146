/// Computes from the size and the free space of a volume how much a cache of guesses may take.
///
/// With total T, available A, own bytes U and other purgeable bytes P:
///
///     low           = min(5 % of T, 500 MiB)
///     reserve       = min(15 % of T, 4 GiB)
///     important     = A + U + P − low, from 0 to T
///     opportunistic = A − reserve, from 0 to important
///     share         = 25 % of the first 4 GiB of U + A, 10 % of 4 to 64 GiB, 2.5 % of what is above
///     budget        = the smallest of U + A − reserve, share and 16 GiB, rounded down to a quantum
///     quantum       = min(16 MiB, T ÷ 1024)
///
/// Because only U + A enters the budget, a cache that fills itself or is trimmed does not change it.
/// The numbers of the formulas are the constants below. Amounts are in bytes, ratios in thousandths; no
/// step uses floating point, and none overflows.
///
/// Coded, a model is an object with the names of the constants. One that is missing has its default, so
/// that a configuration can name just the one that it changes; unknown names are ignored.
///
/// Where the system reports the opportunistic room itself, that takes the place of A − reserve, in the
/// budget as well.
///
/// - Important: A model may come out of a file. See whether it has a ``problem`` before using it. One
///   that has does not trap, and its budget is still from 0 to the total.
public struct CapacityModel: Hashable, Sendable {
    /// The part of the volume below which it is nearly full. 0 to 1000; 50 is 5 %.
    ///
    /// Source: `DEFAULT_THRESHOLD_PERCENTAGE` of Android's `StorageManager`.
    public var lowPerMille: Int64 = 50
    /// The most that ``lowPerMille`` amounts to. At least 0; 500 MiB.
    ///
    /// Source: `DEFAULT_THRESHOLD_MAX_BYTES` of Android's `StorageManager`.
    public var lowLimit: Int64 = 500 << 20

    /// The part of the volume that guesses leave free. 0 to 1000; 150 is 15 %.
    ///
    /// Source: `SystemKeepFree=` as the manual journald.conf(5) gives its default.
    public var reservePerMille: Int64 = 150
    /// The most that ``reservePerMille`` amounts to. At least 0; 4 GiB.
    ///
    /// Source: `SystemKeepFree=` as the manual journald.conf(5) gives its default.
    public var reserveLimit: Int64 = 4 << 30

    /// Where the first tier of the share ends. At least 0; 4 GiB. The tiers are this library's choice.
    public var firstShareEnd: Int64 = 4 << 30
    /// The part of what is ours or free that may be taken up to ``firstShareEnd``. 0 to 1000; 250 is 25 %.
    public var firstSharePerMille: Int64 = 250
    /// Where the second tier ends. At least ``firstShareEnd``; 64 GiB.
    public var secondShareEnd: Int64 = 64 << 30
    /// The part that may be taken from there to ``secondShareEnd``. 0 to 1000; 100 is 10 %.
    public var secondSharePerMille: Int64 = 100
    /// The part that may be taken of what is above. 0 to 1000; 25 is 2.5 %.
    public var lastSharePerMille: Int64 = 25

    /// The most that a budget is a multiple of. At least 1; 16 MiB. Because of it a budget does not change
    /// with every block that somebody else writes. This library's choice.
    public var quantumLimit: Int64 = 16 << 20
    /// On a small volume the budget is a multiple of the total divided by this. At least 1; 1024. This
    /// library's choice.
    public var quantumDivisor: Int64 = 1024
    /// The most that a budget is on any volume. At least 0; 16 GiB. This library's choice.
    public var cap: Int64 = 16 << 30
    /// How much larger than the budget in force a new one is at least, for it to be raised. 0 to 1000; 50
    /// is 5 %. This library's choice.
    public var growthPerMille: Int64 = 50

    /// Pressure is elevated below this many thousandths of the reserve. At least 0; 1000. The factors of
    /// all levels are this library's choice.
    public var elevatedEnterPerMille: Int64 = 1000
    /// Elevated pressure ends at this many thousandths of the reserve. At least
    /// ``elevatedEnterPerMille``; 1100.
    public var elevatedLeavePerMille: Int64 = 1100
    /// Pressure is low below this many thousandths of the low mark. At least ``criticalEnterPerMille``;
    /// 1500.
    public var lowEnterPerMille: Int64 = 1500
    /// Low pressure ends at this many thousandths of the low mark. At least ``lowEnterPerMille``; 2000.
    public var lowLeavePerMille: Int64 = 2000
    /// Pressure is critical below this many thousandths of the low mark. At least 0; 1000.
    public var criticalEnterPerMille: Int64 = 1000
    /// Critical pressure ends at this many thousandths of the low mark. At least
    /// ``criticalEnterPerMille``; 1500.
    public var criticalLeavePerMille: Int64 = 1500

    /// The model with its defaults.
    public init() {}
}
