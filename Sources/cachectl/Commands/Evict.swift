internal import ArgumentParser
internal import PrefetchCaching

struct Evict: CacheCommand {
    static let configuration = CommandConfiguration(
        commandName: "evict",
        abstract: "Evicts items; the files of opened items stay.",
        usage: """
            cachectl evict <key> … [--dry-run]
            cachectl evict --all | --bytes <size> | --to-bytes <size> [--dry-run]
            cachectl evict [--source <source>] [--older-than <duration>] [--to-bytes <size>] [--dry-run]
            """,
        discussion: """
            Items that an app has pinned, or is reading or opening, stay unless they are named; a reader can \
            finish reading an item that is evicted. The coldest items are evicted first. With several of --source, \
            --older-than and --to-bytes, only items that match all of them are evicted. An item is charged against the \
            budget what its file takes of the volume: whole blocks, and 512 bytes for its name.

            EXAMPLES:
              # Evict two items
              cachectl evict old-1 old-2 --app org.example.app
              # Make room, the coldest items first
              cachectl evict --bytes 100MB --app org.example.app
              # Items stored more than 30 days ago
              cachectl evict --older-than 30d --dry-run --app org.example.app
              # Reduce a source to 100 MB
              cachectl evict --source feed-7 --to-bytes 100MB --app org.example.app
            """)

    @Argument(help: "The keys of the items.", transform: ItemKey.parse)
    var keys: [ItemKey] = []

    @Flag(help: "Evict everything.")
    var all = false

    @Option("Evict the coldest items until this much more is free.", "size", parse: ByteSize.parse)
    var bytes: ByteCount?

    @Option(
        "Evict the coldest items until the rest is charged at most this much.", "size", parse: ByteSize.parse)
    var toBytes: ByteCount?

    @Option(help: "Evict items of this source.", transform: String.parse)
    var source: String?

    @Option("Evict items stored longer ago than this: 12h, 7d or 2w.", "duration", parse: Lifetime.init(_:))
    var olderThan: Lifetime?

    @Flag(help: "Only list what would be evicted.")
    var dryRun = false

    @OptionGroup var shared: SharedOptions

    var isLooking: Bool { dryRun }

    func validate() throws {
        let isChosen = source != nil || olderThan != nil || toBytes != nil
        let choices = [!keys.isEmpty, all, bytes != nil, isChosen].count { $0 }
        guard choices == 1 else {
            throw ValidationError(
                "give either keys, or --all, or --bytes <size>, or any of --source, --older-than and --to-bytes"
            )
        }
    }

    func perform(on cache: PrefetchCache, at place: Place, to output: Output) async throws {
        if !keys.isEmpty { return try await evictKeys(in: cache, output) }
        var request = EvictionRequest(
            source: source, storedBeforeMilliseconds: olderThan?.start(before: Timestamp.now),
            amount: toBytes.map { .downTo($0) } ?? .all)
        if all || bytes != nil {
            guard dryRun else {
                // The library does not list these evictions item by item.
                let (freed, evicted) = try await Evicted.during(cache) {
                    if let bytes { try await cache.evict(bytes) } else { try await cache.evictAll() }
                }
                return try output.report(
                    ["evictedItems": evicted.items, "freedBytes": freed.bytes, "dryRun": false],
                    [summary(freed.bytes, of: evicted.items, others: evicted.others)], isConfirmation: true)
            }
            request = EvictionRequest(amount: bytes.map { .atLeast($0) } ?? .all)
        }
        let files = try await cache.evict(request, dryRun: dryRun)
        let freed = files.reduce(0) { $0 + $1.chargedBytes }
        try output.report(
            [
                "evicted": files.compactMap { $0.kind == .item ? $0.key?.string : nil },
                // Partials and quarantined items.
                "others": files.count { $0.kind != .item }, "freedBytes": freed, "dryRun": dryRun,
            ],
            files.map(line) + [
                summary(
                    freed, of: Int64(files.count { $0.kind == .item }),
                    others: Int64(files.count { $0.kind != .item }))
            ],
            isConfirmation: !dryRun)
    }

    private func line(of file: EvictedFile) -> String {
        let name = file.key?.string
        let what =
            switch file.kind {
            case .partial: "the partial of \(name ?? "?")"
            case .quarantined: "a quarantined item" + (name.map { " \($0)" } ?? "")
            default: name ?? ""
            }
        return "\(dryRun ? "would evict" : "evicted") \(what)"
    }

    /// - Parameter others: Partials and quarantined items.
    private func summary(_ freed: Int64, of items: Int64, others: Int64) -> String {
        if freed == 0 { return "nothing \(dryRun ? "would be" : "was") evicted" }
        let counts = [
            items > 0 ? Count.text(items, "item") : nil,
            others > 0 ? Count.text(others, "partial or damaged item") : nil,
        ].compactMap(\.self).joined(separator: " and ")
        return "\(dryRun ? "would free" : "freed") \(Size.text(freed))"
            + (counts.isEmpty ? "" : " of \(counts)")
    }

    private func evictKeys(in cache: PrefetchCache, _ output: Output) async throws {
        var evicted: [String] = []
        let (unknown, failure) = await each(of: keys) { key in
            let isRemoved = try await remove(key, from: cache)
            if isRemoved { evicted.append(key.string) }
            return isRemoved
        }
        try output.report(
            ["evicted": evicted, "dryRun": dryRun],
            evicted.map { "\(dryRun ? "would evict" : "evicted") \($0)" }, isConfirmation: !dryRun)
        if let failure { throw failure }
        guard !unknown.isEmpty else { return }
        let open = try await cache.promotedFiles().map(\.key)
        let (opened, missing) = (unknown.filter(open.contains), unknown.filter { !open.contains($0) })
        throw CommandFailure(
            .notFound,
            [
                missing.isEmpty
                    ? nil
                    : "there is no item \(missing.quoted); 'cachectl list' shows what there is, and 'cachectl events "
                        + "--key' what happened to a key",
                opened.isEmpty
                    ? nil
                    : "\(opened.quoted) was opened, and its file is the user's: 'cachectl forget' forgets that, and "
                        + "with --delete-file removes the file",
            ].compactMap(\.self).joined(separator: "; "))
    }

    private func remove(_ key: ItemKey, from cache: PrefetchCache) async throws -> Bool {
        guard dryRun else { return try await cache.remove(key) }
        if case .cached = try await cache.status(of: key) { return true }
        return false
    }
}

/// What was evicted while a command was changing the cache: by the command, or by a running app at the same time.
struct Evicted {
    let items: Int64
    /// Charged bytes of these.
    let bytes: Int64
    /// Partials and quarantined items.
    let others: Int64

    static func during<Result>(_ cache: PrefetchCache, _ body: () async throws -> Result) async throws
        -> (Result, Evicted)
    {
        let before = try await cache.statistics()
        let result = try await body()
        let after = try await cache.statistics()
        return (
            result,
            Evicted(
                items: after.evictions - before.evictions, bytes: after.evictedBytes - before.evictedBytes,
                others: max(0, Int64(before.others - after.others)))
        )
    }

    /// `12 items, 18 MiB`
    var text: String { items > 0 ? "\(Count.text(items, "item")), \(Size.text(bytes))" : "nothing" }
}

extension CacheStatistics {
    fileprivate var others: Int { partials + quarantinedItems }
}
