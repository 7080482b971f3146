import PrefetchCaching
import Storytelling

/// Shows which items were evicted: the least recently used.
struct ProveRecency {
    private static let itemsPerLine = 60

    let cache: PrefetchCache
    let run: StoreRun

    func run(_ report: inout Report) async throws {
        report.step("Who was evicted: the least recently used")
        var cached: Set<ItemKey> = []
        for key in run.stored where try await cache.contains(key) {
            cached.insert(key)
        }
        draw(cached, report)

        let warmThere = run.warm.count(where: cached.contains)
        let warm = run.warm.count
        report.check("kept warm: \(warmThere) of \(warm) are still there", warmThere == warm)

        let others = run.stored.filter { !run.warm.contains($0) }
        let gone = others.count { !cached.contains($0) }
        guard gone > 0 else { return report.line("Everything fits; nothing had to go.") }
        // Files stored at the same time have no known order, so the boundary of the evicted items is not sharp.
        // Half the distance to it leaves no doubt.
        let coldest = others.prefix((gone + 1) / 2)
        let hottest = others.suffix((others.count - gone + 1) / 2)
        let coldThere = coldest.count(where: cached.contains)
        let hotThere = hottest.count(where: cached.contains)
        report.check("stored first: \(coldThere) of \(coldest.count) are still there", coldThere == 0)
        let hot = hottest.count
        report.check("stored last: \(hotThere) of \(hot) are still there", hotThere == hot)
        try await ask(for: coldest, &report)
    }

    /// A miss is not an error: the app downloads the item as if it had never been prefetched.
    private func ask(for coldest: ArraySlice<ItemKey>, _ report: inout Report) async throws {
        guard let key = coldest.first else { return }
        let name = key.string.printable
        report.check("read(\"\(name)\") returns nil", try await cache.read(key) == nil)
        if case .miss(let miss) = try await cache.lookUp(key) {
            report.line("     and lookUp(_:) tells why: \(miss)")
        }
    }

    private func draw(_ cached: Set<ItemKey>, _ report: Report) {
        let map = run.stored.map { key in
            run.warm.contains(key) && cached.contains(key) ? "w" : cached.contains(key) ? "#" : "."
        }
        report.line("One sign per item, in the order they were stored:")
        report.line("w kept warm, # cached, . evicted")
        for start in stride(from: 0, to: map.count, by: Self.itemsPerLine) {
            report.line("  " + map[start..<min(start + Self.itemsPerLine, map.count)].joined())
        }
    }
}
