internal import ArgumentParser
internal import PrefetchCache
internal import SystemPackage

/// `cachectl open`
struct Open: CacheCommand {
    static let configuration = CommandConfiguration(
        commandName: "open",
        abstract: "Hands an item over to the user, and prints the path of its file.",
        discussion: """
            At the first open the item moves, whole and durable, to its destination; from then on it is \
            the user's file, and the same path is printed again.
            """)

    @Argument(help: "The key of the item.", transform: ItemKey.parse)
    var key: ItemKey

    @OptionGroup var shared: SharedOptions

    func perform(in session: Session) async throws {
        switch try await session.cache.lookUpAndOpen(key) {
        case .miss(let miss): throw CommandFailure(miss, of: key)
        case .hit(let item) where session.output.isJSON:
            var record = OpenedRecord(item)
            record.firstOpen = item.isFirstOpen
            try session.output.print(json: record)
        case .hit(let item):
            // Verbatim, for scripts. A file name has no controls in it, and the folder is the caller's.
            try session.output.print(item.path.string)
        }
    }
}
