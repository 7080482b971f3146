import Foundation
import PrefetchCaching
import Storytelling

/// The main job of the cache, with real files: store ahead what the user will probably want, within a budget; forget what
/// nobody uses; and hand over what the user opens. To be read from top to bottom, beside what it prints.
@main
struct Walkthrough {
    let areas: StorageAreas
    let cache: PrefetchCache
    let files: [SourceFile]

    static func main() async {
        await Demonstration.run { container, report in
            // The folders that a platform gives an app: Caches, Documents, Application Support. Here they are in a temporary
            // folder; an app has `.application(id: "org.example.podcasts")` instead. Backups exclude what can be
            // downloaded again, and all of that goes to folders of this name.
            let areas = try StorageAreas.container(at: container).excluding(into: "org.example.walkthrough")
            // An app keeps one cache for as long as it runs.
            let cache = try await PrefetchCache(areas: areas)
            let walkthrough = Walkthrough(areas: areas, cache: cache, files: try SourceFile.all())
            try await walkthrough.tell(&report)
            // Writes what is still in memory: about a second of figures, and of the order of use.
            try await cache.close()
        }
    }

    private func tell(_ report: inout Report) async throws {
        print("PrefetchCache walkthrough: the sources of this package stand for what an app downloads.")
        let half = files.count / 2
        let first = files[..<half]
        let second = files[half...]
        try await storeAhead(first, &report)
        try await reduceTheBudget(first, &report)
        try await storeWithoutRoom(second, &report)
        try await lookFromOutside(&report)
        try await open(.documents, "Documents", &report)
        try await open(.applicationSupport, "Application Support", &report)
        try await readEverythingBack(&report)
        try await askWhetherItWasWorthIt(&report)
    }

    private func storeAhead(_ files: ArraySlice<SourceFile>, _ report: inout Report) async throws {
        report.step("Store ahead")
        // Without this, the budget follows the free space of the volume, which is right for most apps.
        try await cache.configure { $0.budget = .fixed(.mebibytes(16)) }
        var stored = 0
        for file in files {
            // A lack of room is no error: it is a value that says why.
            switch try await cache.store(file.content, as: file.metadata) {
            case .stored: stored += 1
            case .delivered(let file): report.line("the user asked for it: \(file.url.path)")
            case .refused(let refusal): report.line("refused: \(refusal)")
            }
        }
        report.check("\(stored) of \(files.count) files are stored", stored == files.count)
        let statistics = try await cache.statistics()
        let ratio = statistics.storedBytes.percent(of: statistics.contentBytes)
        report.fact("content", statistics.contentBytes.asBytes)
        report.fact("compressed", "\(statistics.storedBytes.asBytes), \(ratio) %")
        // Charged is what the files take of the volume: whole blocks.
        report.fact("charged", "\(statistics.chargedBytes.asBytes) of \(statistics.budgetBytes.asBytes)")
    }

    private func reduceTheBudget(_ files: ArraySlice<SourceFile>, _ report: inout Report) async throws {
        report.step("The user looks at three files, and then allows less space")
        let favourites = files.prefix(3).map(\.key)
        // To read is to use, and leaves the item in the cache. These three were the least recently used; now they are
        // the most recently used.
        for key in favourites { _ = try await cache.read(key) }
        // The order in which items would be evicted.
        let before = try await cache.items().map(\.key)
        let charged = try await cache.statistics().chargedBytes
        try await cache.configure { $0.budget = .fixed(.bytes(charged / 2)) }

        let left = Set(try await cache.items().map(\.key))
        report.line("A sign for each file, in the order of storing:")
        report.line("# cached, * looked at and cached, . evicted")
        let signs = files.map { file in
            if !left.contains(file.key) { "." } else if favourites.contains(file.key) { "*" } else { "#" }
        }
        for start in stride(from: 0, to: signs.count, by: 60) {
            report.line("  " + signs[start..<min(start + 60, signs.count)].joined())
        }
        let evicted = before.filter { !left.contains($0) }
        report.check("the three are still there", left.isSuperset(of: favourites))
        report.check("\(evicted.count) others are evicted", !evicted.isEmpty)
        report.check(
            "the least recently used, and no other", evicted == Array(before.prefix(evicted.count)))

        // A miss is no error either: the app downloads the item as if it had never been prefetched.
        guard let key = evicted.first else { return }
        report.check("read(\"\(key)\") returns nil", try await cache.read(key) == nil)
        if case .miss(let reason) = try await cache.lookUp(key) {
            report.line("     and lookUp(_:) says why: \(reason)")
        }
    }

    private func storeWithoutRoom(_ files: ArraySlice<SourceFile>, _ report: inout Report) async throws {
        report.step("Store as many again")
        let before = try await cache.statistics()
        var peak: Int64 = 0
        for file in files {
            // Room is made before the first byte is written.
            try await cache.store(file.content, as: file.metadata)
            peak = max(peak, try await cache.statistics().chargedBytes)
        }
        let after = try await cache.statistics()
        let evicted = after.evictions - before.evictions
        report.line("\(files.count) more are stored, and \(evicted) are evicted for them.")
        report.check(
            "after each, at most \(peak) of \(after.budgetBytes) bytes were charged",
            peak <= after.budgetBytes)
    }

    private func lookFromOutside(_ report: inout Report) async throws {
        report.step("An item, seen by a program that knows nothing of this library")
        let compressed = try await cache.items().filter { $0.encoding == .lz4 }
        guard let item = compressed.max(by: { $0.contentBytes < $1.contentBytes }),
            let file = areas.url(of: item.location)
        else { throw StoryError("nothing is compressed") }
        report.line("\(item.key): \(item.contentBytes.asBytes), stored in \(item.storedBytes.asBytes)")

        let lz4 = Process()
        let output = Pipe()
        lz4.executableURL = URL(filePath: "/usr/bin/env")
        lz4.arguments = ["lz4", "-dc", file.path]
        lz4.standardOutput = output
        lz4.standardError = FileHandle.nullDevice
        try lz4.run()
        // Read before waiting for the end: a full pipe would keep the program from ending.
        let printed = try output.fileHandleForReading.readToEnd()
        lz4.waitUntilExit()
        // The code of `env` for a program that is not there.
        guard lz4.terminationStatus != 127 else { return report.line("Skipped: lz4 is not installed.") }
        report.check("lz4 -dc prints the original", printed == original(item.key))
    }

    private func open(_ area: Area, _ name: String, _ report: inout Report) async throws {
        report.step("The user opens an item, and it moves to \(name)")
        guard let item = try await cache.items().first(where: { $0.destination?.area == area }),
            let file = try await cache.open(item.key)
        else { throw StoryError("nothing that goes there is cached") }
        // Complete, durable, and from now on the user's own: no budget touches it.
        report.line("\(item.key) -> \(file.location.path)")
        report.check(
            "its bytes are those of the original", try Data(contentsOf: file.url) == original(item.key))
        let isCached = try await cache.items().contains { $0.key == item.key }
        report.check("it is in the cache no more", !isCached)
        let again = try await cache.open(item.key)
        report.check("a second open finds the same file", again?.url == file.url)
    }

    private func readEverythingBack(_ report: inout Report) async throws {
        report.step("Read everything back")
        let items = try await cache.items()
        var identical = 0
        for item in items where try await cache.read(item.key) == original(item.key) { identical += 1 }
        report.check(
            "\(identical) of \(items.count) are identical, byte for byte", identical == items.count)
    }

    private func askWhetherItWasWorthIt(_ report: inout Report) async throws {
        report.step("Was it worth it?")
        let statistics = try await cache.statistics()
        report.fact("stored", "\(statistics.stores)")
        report.fact("evicted", "\(statistics.evictions)")
        report.fact("opened", "\(statistics.promotions)")
        report.fact("cached", "\(statistics.items)")
        report.fact("hits", "\(statistics.hits)")
        report.fact("misses", "\(statistics.misses)")
        report.line(report.failedChecks == 0 ? "All is as told." : "NOT everything is as told.")
    }

    private func original(_ key: ItemKey) -> Data? {
        files.first { $0.key == key }?.content
    }
}
