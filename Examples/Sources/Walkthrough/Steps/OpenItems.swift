import Foundation
import PrefetchCaching
import Storytelling

/// Opens three items, which become the user's files.
struct OpenItems {
    let cache: PrefetchCache
    let areas: StorageAreas

    func run(
        _ report: inout Report, _ comparisons: inout Comparisons, _ originals: inout [ItemKey: SourceFile]
    ) async throws {
        report.step("Open: from a guess to the user's own file")
        let incompressible = try await incompressibleItem(&originals)
        let items = try await cache.items().filter { $0.key != incompressible?.key }
        let document = items.largest { $0.destination?.area == .documents }
        let support = items.largest { $0.destination?.area == .applicationSupport }
        let choices = [
            ("To Documents, where the user meets it", document),
            ("To Application Support, out of sight", support),
            ("Incompressible, therefore stored as it is", incompressible),
        ]
        for (title, item) in choices {
            report.line("\(title):")
            guard let item, let original = originals[item.key] else {
                report.line("  skipped, no such item is cached")
                continue
            }
            try await open(item, original, &report, &comparisons)
        }
    }

    private func open(
        _ item: CachedItem, _ original: SourceFile, _ report: inout Report, _ comparisons: inout Comparisons
    ) async throws {
        let length = item.contentBytes.asBytes
        report.line("  \(item.key.string.printable) (\(item.encoding.name), \(length))")
        let cachedCopy = areas.url(of: item.location)
        let before = cachedCopy.flatMap(FileFacts.init)
        guard let opened = try await cache.open(item.key) else {
            return report.check("it is there", false)
        }
        report.line("  -> \(opened.url.path(percentEncoded: false).printable)")
        let content = try Data(contentsOf: opened.url)
        let comparison = try comparisons.compare(content, with: original)
        report.check("its bytes are those of the original", comparison != .different)
        report.check("the cached copy is gone", cachedCopy.flatMap(FileFacts.init) == nil)

        let again = try await cache.open(item.key)
        let isSame = again?.url == opened.url && again?.isFirstOpen == false
        report.check("a second open returns the same file", isSame)
        if item.encoding == .identity, let before {
            let inode = FileFacts(of: opened.url)?.inode
            report.check("moved, not copied: inode \(before.inode) before and after", inode == before.inode)
        }
    }

    /// An incompressible item, which is stored as it is, and needs no copy when it is opened.
    private func incompressibleItem(_ originals: inout [ItemKey: SourceFile]) async throws -> CachedItem? {
        let item = try await cache.items().largest { $0.encoding == .identity }
        // A few bytes are also stored as they are, but prove little.
        if let item, item.contentBytes >= 16 << 10 { return item }
        // All files compress: create one that does not.
        let budget = try await cache.statistics().budgetBytes
        guard let random = try SourceFile.random(length: budget / 8, in: areas) else { return nil }
        originals[random.key] = random
        try await cache.store(contentsOf: random.url, as: random.metadata)
        guard case .cached(let item) = try await cache.status(of: random.key) else { return nil }
        return item
    }
}

extension [CachedItem] {
    fileprivate func largest(where isWanted: (CachedItem) -> Bool) -> CachedItem? {
        filter(isWanted).max { $0.contentBytes < $1.contentBytes }
    }
}
