internal import ArgumentParser
internal import PrefetchCaching

struct Evict: CacheCommand {
    static let configuration = CommandConfiguration(
        commandName: "evict",
        abstract: "Removes items from the cache; files of opened items stay.",
        usage: """
            cachectl evict <key> … [--dry-run]
            cachectl evict --all | --bytes <size> | --to-bytes <size> [--dry-run]
            cachectl evict [--source <source>] [--older-than <duration>] [--to-bytes <size>] [--dry-run]
            """,
        discussion: """
            Items that an app has pinned, or is reading or opening, stay unless they are named; a reader can \
            finish reading an item that is evicted. The coldest items are evicted first. With several of --source, \
            --older-than and --to-bytes, only items that match all of them are evicted.

            EXAMPLES:
              # Remove two items
              cachectl evict old-1 old-2 --app org.example.podcasts
              # Make room, the coldest items first
              cachectl evict --bytes 100MB --app org.example.podcasts
              # Items stored more than 30 days ago
              cachectl evict --older-than 30d --dry-run --app org.example.podcasts
              # Reduce a source to 100 MB
              cachectl evict --source feeds.example.org --to-bytes 100MB --app org.example.podcasts
            """)

    @Argument(help: "The keys of the items.", transform: ItemKey.parse)
    var keys: [ItemKey] = []

    @Flag(help: "Evict everything.")
    var all = false

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Evict the coldest items until this much more is free.", valueName: "size"),
        transform: ByteSize.parse)
    var bytes: ByteCount?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "Evict the coldest items until the rest is charged at most this much.", valueName: "size"),
        transform: ByteSize.parse)
    var toBytes: ByteCount?

    @Option(help: "Evict items of this source.", transform: String.parse)
    var source: String?

    @Option(
        name: .customLong("older-than"), parsing: .unconditional,
        help: ArgumentHelp("Evict items stored longer ago than this: 12h, 7d or 2w.", valueName: "duration"),
        transform: Lifetime.init(_:))
    var age: Lifetime?

    @Flag(help: "Only list what would be evicted.")
    var dryRun = false

    @OptionGroup var shared: SharedOptions

    var recoversOnOpening: Bool { !dryRun }
    var isReadOnly: Bool { dryRun }

    func validate() throws {
        let isChosen = source != nil || age != nil || toBytes != nil
        let choices = [!keys.isEmpty, all, bytes != nil, isChosen].count { $0 }
        guard choices == 1 else {
            throw ValidationError(
                "give either keys, or --all, or --bytes <size>, or any of --source, --older-than and --to-bytes"
            )
        }
    }

    func perform(in session: Session) async throws {
        if !keys.isEmpty { return try await evictKeys(in: session) }
        guard let request else {
            let cache = session.cache
            let freed = if let bytes { try await cache.evict(bytes) } else { try await cache.evictAll() }
            return try report(freed, in: session)
        }
        try report(try await session.cache.evict(request, dryRun: dryRun), in: session)
    }

    /// `nil` for evictions that the library does not list file by file.
    private var request: EvictionRequest? {
        if all || bytes != nil {
            return dryRun ? EvictionRequest(amount: bytes.map { .atLeast($0) } ?? .all) : nil
        }
        return EvictionRequest(
            source: source, storedBeforeMilliseconds: age?.start(before: Timestamp.now),
            amount: toBytes.map { .downTo($0) } ?? .all)
    }

    private func report(_ freed: ByteCount, in session: Session) throws {
        if session.output.isJSON {
            try session.output.print(json: ["freedBytes": freed.bytes, "dryRun": false])
        } else {
            try session.output.confirm(
                freed.bytes == 0 ? "nothing was evicted" : "freed \(Size.text(freed.bytes))")
        }
    }

    private func report(_ files: [EvictedFile], in session: Session) throws {
        let freed = files.reduce(0) { $0 + $1.chargedBytes }
        guard !session.output.isJSON else {
            return try session.output.print(
                json: [
                    "evicted": files.compactMap { $0.kind == .item ? $0.key?.string : nil },
                    // Partials and quarantined items.
                    "others": files.count { $0.kind != .item }, "freedBytes": freed, "dryRun": dryRun,
                ])
        }
        for file in files {
            let kind =
                switch file.kind {
                case .item: ""
                case .partial: "the partial of "
                case .quarantined: "a quarantined item "
                }
            try report(kind, file.key, in: session)
        }
        guard dryRun else { return try report(.bytes(freed), in: session) }
        try session.output.print(freed == 0 ? "nothing would be evicted" : "would free \(Size.text(freed))")
    }

    private func report(_ kind: String, _ key: ItemKey?, in session: Session) throws {
        let name = (key?.string ?? "").escapedForTerminal
        try session.output.confirm(
            "\(dryRun ? "would evict" : "evicted") \(kind)\(name)", evenIfQuiet: dryRun)
    }

    private func evictKeys(in session: Session) async throws {
        var evicted: [ItemKey] = []
        var unknown: [ItemKey] = []
        var seen: Set<ItemKey> = []
        var failure: (any Error)?
        for key in keys where seen.insert(key).inserted {
            do {
                if try await remove(key, from: session.cache) {
                    evicted.append(key)
                } else {
                    unknown.append(key)
                }
            } catch {
                // Still report the items that were evicted before the failure.
                failure = error
                break
            }
        }
        if session.output.isJSON {
            try session.output.print(json: ["evicted": evicted.map(\.string), "dryRun": dryRun])
        } else {
            for key in evicted { try report("", key, in: session) }
        }
        if let failure { throw failure }
        guard unknown.isEmpty else {
            let list = unknown.map { "'\($0)'" }.joined(separator: ", ")
            throw CommandFailure(.notFound, "there is no item \(list); 'cachectl list' shows what there is")
        }
    }

    private func remove(_ key: ItemKey, from cache: PrefetchCache) async throws -> Bool {
        guard dryRun else { return try await cache.remove(key) }
        if case .cached = try await cache.status(of: key) { return true }
        return false
    }
}
