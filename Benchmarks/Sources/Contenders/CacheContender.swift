import Foundation
public import PrefetchCaching

/// PrefetchCache through its public interface, as an app uses it.
///
/// The encoding is left to the trial, and the budget has room for the workload: eviction is a job of
/// its own. The 256 folders for items are made in advance, as they are for the floor.
final class CacheContender: ItemContender, Sendable {
    /// Apps have one, named by their id; a container has to be told.
    private static let excludedFolder: FileName = "org.example.compare"

    private let cache: PrefetchCache
    private let evictsByItself: Bool
    private let prefersExecutor: Bool
    private let tasks: Int
    private let directory: URL
    private let workload: Workload
    private let items: [ItemMetadata]

    /// - Parameters:
    ///   - budget: So few bytes that the cache evicts while it stores, and is not told to; `nil` for far more than the workload.
    ///   - prefersExecutor: Whether the task prefers the cache's executor, as a downloader that does little else should, or
    ///     changes threads twice per call, as any other task does.
    ///   - tasks: How many share the items.
    ///   - hasOneThread: Whether chunks are compressed and decompressed one after the other.
    init(
        in directory: URL, for workload: Workload, budget: Int64?, prefersExecutor: Bool, tasks: Int,
        hasOneThread: Bool
    ) async throws {
        (self.directory, self.workload, evictsByItself) = (directory, workload, budget != nil)
        (self.prefersExecutor, self.tasks) = (prefersExecutor, tasks)
        // Those that the cache would make as they are needed.
        let folder = directory.appending(path: "Library/Caches/PrefetchCache/items")
        for byte in UInt8.min...UInt8.max {
            let name = String(byte >> 4, radix: 16) + String(byte & 15, radix: 16)
            try FileManager.default.createDirectory(
                at: folder.appending(path: name), withIntermediateDirectories: true)
        }
        items = try (0..<workload.count).map { index in
            ItemMetadata(
                key: try ItemKey(Workload.key(index)), source: "example.org",
                destination: .documents(try FileName(Workload.finalName(index))))
        }
        var environment = CacheEnvironment.live()
        if hasOneThread { environment.parallelism = 1 }
        cache = try await PrefetchCache(
            areas: .container(at: directory).excluding(into: Self.excludedFolder), environment: environment)
        // Opening the catalog and the ledger is not what is measured, as it is not with other databases.
        let first = ItemMetadata(key: "first", destination: .documents("First"))
        try await cache.store([0], as: first)
        _ = try await cache.open(first.key)
        try await cache.configure(CacheConfiguration(budget: .fixed(.bytes(budget ?? 16 << 30))))
    }

    var executor: (any TaskExecutor)? { prefersExecutor ? cache.executor : nil }

    func store(_ index: Int) async throws {
        let outcome =
            if let file = workload.file {
                try await cache.store(contentsOf: file, as: items[index])
            } else {
                try await cache.store(workload.contents[index], as: items[index])
            }
        guard case .stored = outcome else { throw ContenderError("\(outcome)") }
    }

    func read(_ index: Int) async throws -> Int {
        guard let content = try await cache.read(items[index].key) else { throw ContenderError.missing }
        return content.count
    }

    func promote(_ index: Int) async throws {
        guard try await cache.open(items[index].key) != nil else { throw ContenderError.missing }
    }

    func evict(_ items: Range<Int>) async throws {
        if evictsByItself { return }
        guard try await cache.evictAll().bytes > 0 else { throw ContenderError.missing }
    }

    func run(_ job: Job, for items: Range<Int>, of workload: Workload) async throws -> Duration {
        try await ContinuousClock().measure {
            guard tasks > 1 else { return try await doInTurn(job, for: items, of: workload) }
            try await withThrowingTaskGroup(of: Void.self) { group in
                for share in workload.shares(tasks) {
                    group.addTask { try await self.doInTurn(job, for: share, of: workload) }
                }
                try await group.waitForAll()
            }
        }
    }

    func promotedFile(_ index: Int) -> URL {
        directory.appending(path: "Documents/\(Self.excludedFolder)/\(Workload.finalName(index))")
    }

    func leave() async throws { try await cache.close() }
}

extension Entry {
    /// The name of this project's cache in tables and in the names of thresholds.
    public static let ourName = "PrefetchCache"

    public static var ours: Entry { ours("the task prefers the cache's executor; evict is evictAll()") }

    public static var changingThreads: Entry {
        ours(
            "the task prefers no executor; evict is evictAll()", ", changing threads", prefersExecutor: false)
    }

    /// - Parameter budget: Bytes.
    public static func ours(within budget: Int64) -> Entry {
        ours(
            "the task prefers the cache's executor; evicts by itself, within a budget of \(budget >> 20) MiB",
            budget: budget)
    }

    public static func ours(of tasks: Int) -> Entry {
        ours("one cache, a task group that prefers the cache's executor", tasks: tasks)
    }

    /// For an item that is a file.
    public static func oursOfFile(hasOneThread: Bool) -> Entry {
        ours(
            "store(contentsOf:) and open(_:)" + (hasOneThread ? "; one chunk at a time" : ""),
            hasOneThread ? ", one thread" : "", hasOneThread: hasOneThread)
    }

    private static func ours(
        _ setup: String, _ suffix: String = "", budget: Int64? = nil,
        prefersExecutor: Bool = true, tasks: Int = 1, hasOneThread: Bool = false
    ) -> Entry {
        Entry(ourName + suffix, "public interface, encoding left to the trial, \(setup)") {
            try await CacheContender(
                in: $0, for: $1, budget: budget, prefersExecutor: prefersExecutor, tasks: tasks,
                hasOneThread: hasOneThread)
        }
    }
}

extension PrefetchCache {
    /// Opens a cache for `body` and closes it whatever happens: one that is open defends its folders
    /// against being removed.
    public static func with<Result>(
        _ areas: StorageAreas, _ body: (PrefetchCache) async throws -> Result
    ) async throws -> Result {
        let cache = try await PrefetchCache(areas: areas)
        return try await finally({ try await cache.close() }) { try await body(cache) }
    }

    /// Stores an item, for which there must be room.
    public func demand(_ content: [UInt8], as item: ItemMetadata) async throws {
        let outcome = try await store(content, as: item)
        guard case .stored = outcome else { throw ContenderError("\(item.key) was not stored: \(outcome)") }
    }
}
