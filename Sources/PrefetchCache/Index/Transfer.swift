/// The changes of the allowance by a transaction, until they are certain.
struct Transfer {
    /// The bytes that are given up.
    private(set) var unused: Int64 = 0
    private var grant: Int64 = 0
    private var generation = 0

    /// Gives up the free bytes. A transaction may be run again, on the same file or on a fresh one.
    mutating func begin(with allowance: inout Allowance) {
        allowance.settle(uncertain: grant)
        grant = 0
        if generation != allowance.generation {
            // A fresh file does not contain what was given up before.
            allowance.settle(uncertain: unused)
            unused = 0
        }
        generation = allowance.generation
        unused += allowance.giveUp()
    }

    mutating func promise(_ bytes: Int64, by allowance: inout Allowance) {
        grant += bytes
        allowance.promise(bytes)
    }

    func commit(to allowance: inout Allowance) {
        allowance.settle(uncertain: unused + grant)
        allowance.add(grant)
    }

    func rollBack(to allowance: inout Allowance) {
        allowance.settle(uncertain: unused + grant)
        if generation == allowance.generation { allowance.add(unused) }
    }
}
