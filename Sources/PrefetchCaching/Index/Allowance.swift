/// What this process may store without coordination: bytes that it took out of the shared budget in bulk and spends
/// from memory, so that a small item costs no transaction.
///
/// The catalog's `writer` row of this process holds the sum of the first three. They count as charged, so that all
/// processes together never exceed the budget.
struct Allowance: Sendable {
    /// Bytes that the next reservation may take.
    private(set) var free: Int64 = 0
    /// Bytes that stores under way have reserved.
    private(set) var reserved: Int64 = 0
    /// Charged bytes of stored items without a row in the catalog.
    private(set) var unrecorded: Int64 = 0
    /// Bytes that transactions under way are giving up or being granted: whether this process holds them is still open.
    private(set) var uncertain: Int64 = 0
    /// Counts how often the allowance was entered into a file of the catalog.
    private(set) var generation = 0
    /// Whether the current catalog file is known to contain it. If not, nothing is spent from memory.
    private(set) var isEntered = true

    /// The most that this process may turn out to hold.
    var bound: Int64 { max(0, free + reserved + unrecorded + uncertain) }

    /// Whether `bytes` can be reserved of the free ones.
    func covers(_ bytes: Int64) -> Bool { isEntered && free >= bytes }

    /// Reserves `bytes` of the free ones, if there are enough.
    mutating func reserve(_ bytes: Int64) -> Bool {
        guard covers(bytes) else { return false }
        free -= bytes
        reserved += bytes
        return true
    }

    /// Adds a grant of the catalog.
    mutating func add(_ grant: Int64) {
        free += grant
    }

    mutating func release(_ bytes: Int64) {
        reserved -= bytes
        free += bytes
    }

    /// Turns a reservation into a stored item of `charged` bytes, and frees the rest.
    mutating func spend(_ charged: Int64, reserved bytes: Int64) {
        reserved -= bytes
        free += bytes - charged
        unrecorded += charged
    }

    /// Takes back the charge of an item without a row that was removed again.
    mutating func refund(_ charged: Int64) {
        unrecorded -= charged
        free += charged
    }

    /// Notes that the catalog now has rows for items of `bytes` in total.
    mutating func noteRecorded(_ bytes: Int64) {
        unrecorded -= bytes
    }

    /// Gives up the free bytes. They are uncertain until ``confirm(uncertain:)``.
    mutating func giveUp() -> Int64 {
        defer { free = 0 }
        uncertain += free
        return free
    }

    /// Notes that a transaction under way is granted `bytes`, which are uncertain until
    /// ``confirm(uncertain:)``.
    mutating func promise(_ bytes: Int64) {
        uncertain += bytes
    }

    /// Notes that the outcome for `bytes` that were given up or granted is known.
    mutating func confirm(uncertain bytes: Int64) {
        uncertain -= bytes
    }

    /// Notes that the current catalog file may lack this process's row, or have an outdated one. The free bytes are
    /// forfeited.
    mutating func lose() {
        free = 0
        isEntered = false
    }

    /// Returns what has to be entered in a catalog that lacks this process's row.
    mutating func reenter() -> Int64 {
        free = 0
        generation += 1
        isEntered = true
        return reserved + unrecorded
    }
}

/// The changes of the allowance by a transaction, until its outcome is known.
struct Transfer {
    /// The bytes that are given up.
    private(set) var unused: Int64 = 0
    private var grant: Int64 = 0
    private var generation = 0

    /// A transaction may be retried, on the same file or on a new one.
    ///
    /// - Parameter givingUp: Whether to give up the free bytes; otherwise stores spend them meanwhile.
    mutating func begin(with allowance: inout Allowance, givingUp: Bool = true) {
        allowance.confirm(uncertain: grant)
        grant = 0
        if generation != allowance.generation {
            // A new file does not contain what was given up before.
            allowance.confirm(uncertain: unused)
            unused = 0
        }
        generation = allowance.generation
        if givingUp { unused += allowance.giveUp() }
    }

    mutating func promise(_ bytes: Int64, by allowance: inout Allowance) {
        grant += bytes
        allowance.promise(bytes)
    }

    /// Notes that the transaction goes on without a grant that was just promised.
    mutating func withdraw(_ bytes: Int64, from allowance: inout Allowance) {
        grant -= bytes
        allowance.confirm(uncertain: bytes)
    }

    func commit(to allowance: inout Allowance) {
        allowance.confirm(uncertain: unused + grant)
        allowance.add(grant)
    }

    func rollBack(to allowance: inout Allowance) {
        allowance.confirm(uncertain: unused + grant)
        if generation == allowance.generation { allowance.add(unused) }
    }
}

/// Keeps a growing catalog within the budget.
///
/// The bytes of a stored item are held before its row is written, but those of the row are not: how many pages it takes
/// is known only when it is written. So a transaction that has extended the file makes room for the new pages before it
/// ends.
struct Growth {
    private let transaction: CatalogTransaction
    private let catalogBytes: Int64
    private let usedBytes: Int64

    /// - Parameter transaction: The transaction before anything is written.
    init(of transaction: CatalogTransaction) throws {
        self.transaction = transaction
        catalogBytes = try transaction.catalogBytes()
        usedBytes = try transaction.usedBytes()
    }

    /// Evicts for the pages that were added.
    ///
    /// - Returns: Whether the file may keep its length. It also may when the ceiling was already exceeded before,
    ///   because it was lowered.
    func fit(into budget: Evictor) throws -> Bool {
        guard try transaction.catalogBytes() > catalogBytes, let ceiling = budget.ceiling(transaction)
        else { return true }
        let limit = max(ceiling, usedBytes)
        while true {
            let excess = try transaction.usedBytes() - limit
            guard excess > 0 else { return true }
            let freed = try budget.evict(atLeast: excess, from: transaction)
            guard freed > 0 else { return usedBytes > ceiling }
        }
    }
}
