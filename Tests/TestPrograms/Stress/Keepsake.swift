/// What a worker knows of a key that nobody else stores or removes. It has a higher priority than all that is shared, so that
/// it is not evicted while there is anything else.
struct Keepsake: Codable {
    /// The versions that may be there: several after an act that failed.
    private(set) var versions: Set<UInt64> = []
    /// Whether one of them has to be there, as long as the system purges nothing.
    private(set) var isThere = false

    mutating func noteStored(_ version: UInt64) {
        versions = [version]
        isThere = true
    }

    mutating func noteRemoved() {
        versions = []
        isThere = false
    }

    /// A store is done as a whole or not at all; which of the two, an error does not tell.
    mutating func noteFailedStore(_ version: UInt64) {
        versions.insert(version)
        isThere = false
    }

    mutating func noteFailedRemoval() {
        isThere = false
    }
}
