internal import ArgumentParser
internal import PrefetchCaching
internal import PrefetchFileSystem

struct Cat: CacheCommand {
    static let configuration = CommandConfiguration(
        abstract: "Writes the content of an item to standard output.",
        discussion: """
            The item stays in the cache: only 'open' hands it over.

            EXAMPLES:
              # Copy the content; the item stays cached
              cachectl cat paper --app org.example.reader >paper.pdf
              # Print the first 100 bytes
              cachectl cat film --range 0-99 --app org.example.reader
            """)

    @Argument(help: "The key of the item.", transform: ItemKey.parse)
    var key: ItemKey

    @Option(
        "A part of the content, both ends included: 0-99, 100- or -5.", "range", parse: ByteRange.init(_:))
    var range: ByteRange?

    @OptionGroup var shared: SharedOptions

    func perform(on cache: PrefetchCache, at place: Place, to output: Output) async throws {
        var wanted: Range<Int64>?
        if let range { wanted = try range.resolved(length: try await contentBytes(in: cache)) }
        let lookup = try await cache.stream(key, range: wanted) { try StandardStreams.write($0) }
        if case .miss(let miss) = lookup { throw CommandFailure(miss, of: key) }
    }

    /// The current length of the content, found by reading past the end: the catalog may lag a second behind another
    /// process, and the user may have changed an opened file.
    private func contentBytes(in cache: PrefetchCache) async throws -> Int64 {
        do {
            let lookup = try await cache.lookUp(key, range: Int64.max - 1..<Int64.max)
            guard case .miss(let miss) = lookup else { return .max }
            throw CommandFailure(miss, of: key)
        } catch CacheError.item(.rangeOutOfBounds(_, let length)) {
            return length
        }
    }
}
