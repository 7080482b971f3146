internal import ArgumentParser
internal import Foundation
internal import PrefetchCaching
internal import PrefetchFileSystem

struct Cat: CacheCommand {
    static let configuration = CommandConfiguration(
        commandName: "cat",
        abstract: "Writes the content of an item to standard output.",
        discussion: """
            The item stays in the cache: only 'open' hands it over.

            --follow reads an item while it is downloaded: what has arrived is written at once, in whole mebibytes, \
            and the rest as soon as it arrives, also when the download is interrupted and resumed.

            EXAMPLES:
              # Copy the content; the item stays cached
              cachectl cat paper --app org.example.reader >paper.pdf
              # Print the first 100 bytes
              cachectl cat film --range 0-99 --app org.example.reader
              # Print one file of a bundle
              cachectl cat guide --file chapters/1.html --app org.example.reader
              # Play a film that is being downloaded
              cachectl cat film --follow --app org.example.reader | mpv -
            """)

    @Argument(help: "The key of the item.", transform: ItemKey.parse)
    var key: ItemKey

    @Option(
        "A part of the content, both ends included: 0-99, 100- or -5.", "range", parse: ByteRange.init(_:))
    var range: ByteRange?

    @Option(
        help: ArgumentHelp("One file of a bundle, by its path in it.", valueName: "path"),
        transform: FolderPath.parse)
    var file: FolderPath?

    @Flag(help: "Wait for what has not arrived yet.")
    var follow = false

    @Option(
        help: ArgumentHelp(
            "With --follow: how long to wait while nobody stores the item, such as 500ms, 30s or 5m.",
            valueName: "time"),
        transform: Interval.init(_:))
    var timeout = Interval(.seconds(30))

    @OptionGroup var shared: SharedOptions

    func validate() throws {
        if file != nil, range != nil || follow {
            throw ValidationError("--file prints a whole file; not with --range or --follow")
        }
    }

    func perform(on cache: PrefetchCache, at place: Place, to output: Output) async throws {
        if let file {
            guard let content = try await cache.read(key, part: file) else {
                throw CommandFailure(.notFound, "there is no bundle \(key) with a file '\(file)'")
            }
            return try content.withUnsafeBytes { try StandardStreams.write($0) }
        }
        if follow { return try await follow(cache) }
        var wanted: Range<Int64>?
        if let range { wanted = try range.resolved(length: try await contentBytes(in: cache)) }
        let lookup = try await cache.stream(key, range: wanted) { try StandardStreams.write($0) }
        switch lookup {
        case .hit: break
        case .miss(.absent): throw try await absence(of: key, in: cache)
        case .miss(let miss): throw CommandFailure(miss, of: key)
        }
    }

    private func follow(_ cache: PrefetchCache) async throws {
        let reader = cache.reader(for: key, patience: timeout.duration)
        var wanted: Range<Int64>
        switch range {
        case nil: wanted = 0..<Int64.max
        case .toEnd(let first)?: wanted = first..<Int64.max
        // Its length may not be known for long, and the range is there.
        case .from(let first, let last)? where last < Int64.max: wanted = first..<last + 1
        case let range?: wanted = try range.resolved(length: try await reader.length())
        }
        while !wanted.isEmpty {
            let limit = Int(min(Int64(1 << 20), wanted.upperBound - wanted.lowerBound))
            let piece = try await reader.read(from: wanted.lowerBound, upTo: limit)
            guard !piece.isEmpty else { break }
            try piece.withUnsafeBytes { try StandardStreams.write($0) }
            wanted = wanted.lowerBound + Int64(piece.count)..<wanted.upperBound
        }
        // A range past the end is an error that names the length.
        if let range, wanted.upperBound < .max, !wanted.isEmpty {
            throw ByteRangeError.pastEnd(range, length: wanted.lowerBound)
        }
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
