/// What this process may store without asking the other processes: bytes that it took out of the
/// shared budget in bulk, and spends from memory, so that a small item costs no transaction.
///
/// The catalog's `writer` row of this process holds the sum of the first three. They are part of what
/// is charged, so that the budget holds at every moment, whoever looks.
struct Allowance: Sendable {
    /// Bytes that the next reservation may take.
    private(set) var free: Int64 = 0
    /// Bytes that stores under way have reserved.
    private(set) var reserved: Int64 = 0
    /// Charged bytes of stored items without a row in the catalog.
    private(set) var unsettled: Int64 = 0
    /// What transactions under way give up or have been granted: it is not held any more, or not yet, and
    /// may turn out to be.
    private(set) var uncertain: Int64 = 0
    /// Counts how often the allowance was entered into a file of the catalog.
    private(set) var generation = 0
    /// Whether the catalog in place is known to have it. Where it may not, nothing is spent from memory.
    private(set) var isEntered = true

    /// The most that this process may turn out to hold.
    var bound: Int64 { max(0, free + reserved + unsettled + uncertain) }

    /// Takes `bytes` out of what is free, if there is enough.
    mutating func reserve(_ bytes: Int64) -> Bool {
        guard isEntered, free >= bytes else { return false }
        free -= bytes
        reserved += bytes
        return true
    }

    /// Enters a grant of the catalog.
    mutating func add(_ grant: Int64) {
        free += grant
    }

    mutating func release(_ bytes: Int64) {
        reserved -= bytes
        free += bytes
    }

    /// Turns a reservation into a stored item of `charged` bytes, and frees the slack.
    mutating func spend(_ charged: Int64, reserved bytes: Int64) {
        reserved -= bytes
        free += bytes - charged
        unsettled += charged
    }

    /// An item without a row was removed again.
    mutating func unspend(_ charged: Int64) {
        unsettled -= charged
        free += charged
    }

    /// The catalog has rows for items of `bytes` in all.
    mutating func settle(_ bytes: Int64) {
        unsettled -= bytes
    }

    /// Gives up what is free. The bytes are uncertain until ``settle(uncertain:)``.
    mutating func giveUp() -> Int64 {
        defer { free = 0 }
        uncertain += free
        return free
    }

    /// A transaction under way is granted `bytes`, which are uncertain until ``settle(uncertain:)``.
    mutating func promise(_ bytes: Int64) {
        uncertain += bytes
    }

    /// It has turned out what became of `bytes` that were given up or granted.
    mutating func settle(uncertain bytes: Int64) {
        uncertain -= bytes
    }

    /// The catalog in place may not have this process's row, or another one. What is free is free for all.
    mutating func lose() {
        free = 0
        isEntered = false
    }

    /// For a catalog that has lost this process's row: what has to be entered in a new one.
    mutating func reenter() -> Int64 {
        free = 0
        generation += 1
        isEntered = true
        return reserved + unsettled
    }
}
