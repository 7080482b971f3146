internal import ArgumentParser
internal import PrefetchCache

/// `cachectl evict`
struct Evict: CacheCommand {
    static let configuration = CommandConfiguration(
        commandName: "evict",
        abstract: "Removes items from the cache; files of opened items stay.",
        usage: "cachectl evict <key> … | --all | --bytes <size>",
        discussion: Examples.evict.discussion(
            """
            --all and --bytes pass over what an app has pinned, reads or opens just now: it stays. An item \
            that is named goes all the same; whoever reads it reads it to its end.
            """))

    @Argument(help: "The keys of the items.", transform: ItemKey.parse)
    var keys: [ItemKey] = []

    @Flag(help: "Evict everything.")
    var all = false

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Evict the coldest items, until this much more is free.", valueName: "size"),
        transform: ByteSize.parse)
    var bytes: ByteCount?

    @OptionGroup var shared: SharedOptions

    func validate() throws {
        let choices = [!keys.isEmpty, all, bytes != nil].count { $0 }
        guard choices == 1 else {
            throw ValidationError("give either keys, or --all, or --bytes <size>")
        }
    }

    func perform(in session: Session) async throws {
        if !keys.isEmpty { return try await evictKeys(in: session) }
        let freed =
            if let bytes { try await session.cache.evict(bytes) } else { try await session.cache.evictAll() }
        if session.output.isJSON {
            try session.output.print(json: EvictionRecord(freedBytes: freed))
        } else {
            try session.output.confirm(freed == 0 ? "nothing was evicted" : "freed \(Size.text(freed))")
        }
    }

    private func evictKeys(in session: Session) async throws {
        var evicted: [ItemKey] = []
        var unknown: [ItemKey] = []
        var seen: Set<ItemKey> = []
        for key in keys where seen.insert(key).inserted {
            if try await session.cache.remove(key) { evicted.append(key) } else { unknown.append(key) }
        }
        if session.output.isJSON {
            try session.output.print(json: EvictionRecord(evicted: evicted.map(\.string)))
        } else {
            for key in evicted { try session.output.confirm("evicted \(key.string.escapedForTerminal)") }
        }
        guard unknown.isEmpty else {
            let list = unknown.map { "'\($0)'" }.joined(separator: ", ")
            throw CommandFailure(.notFound, "there is no item \(list); 'cachectl list' shows what there is")
        }
    }
}

private struct EvictionRecord: Encodable {
    var evicted: [String]?
    /// Charged bytes.
    var freedBytes: Int64?
}
