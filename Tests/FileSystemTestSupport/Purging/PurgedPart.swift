/// What a system may take of an app's Caches and tmp at a time.
package enum PurgedPart: String, CaseIterable, Codable, Sendable {
    case item
    case emptiedItem
    case itemFolder
    case items
    case partial
    case emptiedPartial
    case lock
    case emptiedLock
    case allLocks
    case incoming
    case catalog
    case catalogWithSideFiles
    case emptiedCatalog
    case sideFiles
    case emptiedJournal
    case quarantine
    /// `CACHEDIR.TAG`.
    case tag
    /// The contents of tmp.
    case temporary
    /// The cache's folder in Caches.
    case root
    /// Everything in Caches.
    case area

    /// How many items go with it at most, of those that lie in as many folders.
    ///
    /// - Parameter inOneFolder: The most that lie in one.
    package func lostItems(of all: Int, inOneFolder: Int) -> Int {
        switch self {
        case .item, .emptiedItem: 1
        case .itemFolder: inOneFolder
        case .items, .root, .area: all
        default: 0
        }
    }

    /// How often the part goes in a random purge, beside the others: what takes everything else with it is rare, so that there is
    /// something to take.
    var weight: Int {
        switch self {
        case .item, .emptiedItem, .partial, .emptiedPartial, .lock, .itemFolder: 6
        case .items, .incoming, .root, .area: 1
        default: 3
        }
    }
}
