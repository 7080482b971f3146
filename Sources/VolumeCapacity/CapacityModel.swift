/// Computes how much of a volume an opportunistic cache may take, from its size and its free space.
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
/// Because only U + A enters the budget, filling or trimming the cache does not change it.
/// The numbers of the formulas are the constants below. Amounts are in bytes, ratios in thousandths; no
/// step uses floating point, and none overflows.
///
/// A model is encoded as an object with the names of the constants. A missing one has its default, so
/// that a configuration can name only those that it changes; unknown names are ignored.
///
/// An opportunistic amount that the system reports replaces A − reserve, in the budget as well.
///
/// - Important: A model may come from a file: check its ``problem`` before using it. A model with a
///   problem does not trap, and its budget is still from 0 to the total.
public struct CapacityModel: Hashable, Sendable {
    /// The part of the volume below which it is nearly full, in thousandths. Default 50 (5 %). Range: 0
    /// to 1000.
    ///
    /// Source: `DEFAULT_THRESHOLD_PERCENTAGE` of Android's `StorageManager`.
    public var lowPerMille: Int64 = 50
    /// The largest value of ``Capacity/low``, in bytes. Default 500 MiB. Range: 0 or more.
    ///
    /// Source: `DEFAULT_THRESHOLD_MAX_BYTES` of Android's `StorageManager`.
    public var lowLimit: Int64 = 500 << 20

    /// The part of the volume that opportunistic items leave free, in thousandths. Default 150 (15 %).
    /// Range: 0 to 1000.
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
    /// The share of everything above, in thousandths. Default 25 (2.5 %). Range: 0 to 1000.
    public var lastSharePerMille: Int64 = 25

    /// The largest rounding step of a budget, in bytes. Default 16 MiB. Range: 1 or more. Because of it, a
    /// budget does not change with every block that another program writes. This library's choice.
    public var quantumLimit: Int64 = 16 << 20
    /// The divisor of the total that gives the rounding step on a small volume. Default 1024. Range: 1 or
    /// more. This library's choice.
    public var quantumDivisor: Int64 = 1024
    /// The largest budget on any volume, in bytes. Default 16 GiB. Range: 0 or more. This library's choice.
    public var cap: Int64 = 16 << 30
    /// The growth for which a budget is raised, in thousandths of the budget in force. Default 50 (5 %).
    /// Range: 0 to 1000. This library's choice.
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

    /// Creates the model with its defaults.
    public init() {}
}
