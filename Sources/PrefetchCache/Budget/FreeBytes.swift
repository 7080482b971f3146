/// The free bytes of the volume of the items, while they make way within a transaction of the catalog.
///
/// Where the volume shows too little of what was removed, it is synchronised, which may take long where others have
/// written much, and all other writers wait for the end of the transaction. So this is done twice at most: once to see
/// whether removing helps at all, after which that is believed of what is removed next, and once to see whether it has.
struct FreeBytes {
    private let watch: VolumeWatch
    /// As the volume shows them or, after it has shown them late, as it is believed to show them.
    private(set) var count: Int64
    private var isBelieved = false
    private var looksLeft = 2

    init(_ watch: VolumeWatch) throws(CacheError) {
        self.watch = watch
        count = try watch.available()
    }

    /// Notes that so many bytes were removed.
    mutating func note(_ freed: Int64) throws(CacheError) {
        let before = count
        count = try watch.available()
        // The catalog's journal takes a part.
        guard count - before < freed - freed / 8 - Admission.margin else { return }
        if isBelieved {
            count = max(count, before + freed)
        } else {
            try settle()
            // Only as long as there is a look left for the end.
            isBelieved = looksLeft > 0 && count > before
        }
    }

    /// Has the volume show what was removed until now, if that may be done again.
    mutating func settle() throws(CacheError) {
        guard looksLeft > 0 else { return }
        looksLeft -= 1
        isBelieved = false
        count = try watch.settledAvailable()
    }

    /// Whether there are fewer than wanted, which is not denied as long as it is only believed.
    mutating func isBelow(_ wanted: Int64) throws(CacheError) -> Bool {
        if count >= wanted, isBelieved { try settle() }
        return count < wanted
    }
}
