internal import GRDB

/// Bytes that eviction has given up and the volume does not count as free: a snapshot or another link keeps
/// them, or the file system frees them later.
///
/// They stay a part of U. Without them, every trim would lower U + A, and with it the budget, and so call for
/// the next trim until nothing is left. Any rise of U + A counts as their release, even if it was somebody else
/// who made room: the cache then has a smaller budget than it might.
struct Unreleased: Equatable {
    private static let bytesRow = "unreleased.bytes"
    private static let ownOrFreeRow = "unreleased.ownOrFree"
    /// In bytes. No volume is larger, and a few of it do not overflow.
    private static let most: Int64 = 1 << 60

    private(set) var bytes: Int64 = 0
    /// U + A at the last look, without these bytes.
    private(set) var ownOrFree: Int64 = 0

    init(_ database: Database) throws {
        bytes = Self.sound(try Catalog.value(of: Self.bytesRow, in: database))
        if bytes > 0 { ownOrFree = Self.sound(try Catalog.value(of: Self.ownOrFreeRow, in: database)) }
    }

    private static func sound(_ bytes: Int64) -> Int64 { min(max(0, bytes), most) }

    /// U + A.
    static func sum(own: Int64, free: Int64) -> Int64 { sound(own) + sound(free) }

    /// Looks at U + A again.
    mutating func follow(_ sum: Int64) {
        guard bytes > 0 else { return }
        bytes = max(0, bytes - max(0, sum - ownOrFree))
        ownOrFree = sum
    }

    mutating func add(_ missing: Int64, ownOrFree sum: Int64) {
        bytes = Self.sound(bytes + Self.sound(missing))
        ownOrFree = sum
    }

    func write(to database: Database) throws {
        try Catalog.setValue(of: Self.bytesRow, to: bytes, in: database)
        try Catalog.setValue(of: Self.ownOrFreeRow, to: ownOrFree, in: database)
    }
}
