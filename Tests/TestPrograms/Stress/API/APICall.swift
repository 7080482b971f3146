internal import FileSystemTestSupport
internal import Foundation
internal import PrefetchCaching
internal import SystemPackage

/// One call of the cache, or a few that belong together. All callers share all keys, each of which has one content.
struct APICall: Sendable {
    enum Operation: String, CaseIterable {
        case storeData, storeBytes, storeFile, storeInPieces, keepPieces, resume, discard, request
        case contains, read, readRange, lookUp, stream, status, metadata, partial
        case open, openSeveral, openWithProgress, pin, remove, forget
        case evictBytes, evictSource, evictAll, trim, flush, configure, configureAll
        case items, sources, partials, promoted, statistics, capacity, configuration
        case verify, repair, purgeExcluded, migrate, reopen

        /// How often it is called, beside the others: what walks over everything is rare.
        private var weight: Int {
            switch self {
            case .storeData, .storeInPieces, .keepPieces, .read, .open: 8
            case .evictAll, .configure, .configureAll, .verify, .repair, .migrate, .reopen: 1
            default: 4
            }
        }

        static func drawn(using generator: inout SeededGenerator) -> Operation? {
            allCases.flatMap { Array(repeating: $0, count: $0.weight) }.randomElement(using: &generator)
        }
    }

    private static let keys = 60
    /// Opened files of these go when they were not used.
    private static let excludedKeys = 10

    let cache: PrefetchCache
    let container: String
    let seed: UInt64
    let number: Int

    init(_ cache: PrefetchCache, inContainer container: String, seed: UInt64) {
        self.cache = cache
        self.container = container
        self.seed = seed
        number = Int(seed % UInt64(Self.keys))
    }

    var key: ItemKey {
        get throws { try key(number) }
    }

    private func key(_ number: Int) throws -> ItemKey { try ItemKey("api-\(number % Self.keys)") }

    private var isExcluded: Bool { number < Self.excludedKeys }

    func metadata(_ intent: Intent = .opportunistic) throws -> ItemMetadata {
        let key = try key
        let name = FileName(sanitizing: key.string)
        return ItemMetadata(
            key: key, source: "source-\(number % 3)", intent: intent,
            destination: isExcluded
                ? .applicationSupport(name, backup: .exclude) : .documents(name, backup: .include),
            priority: number.isMultiple(of: 7) ? 0.5 : 0)
    }

    /// - Returns: What is wrong with the answer.
    func run(_ operation: Operation) async throws -> [String] {
        switch operation {
        case .storeData, .storeBytes, .storeFile, .storeInPieces, .keepPieces, .resume, .discard, .request:
            try await store(operation)
        case .contains, .read, .readRange, .lookUp, .stream, .status, .metadata, .partial:
            try await look(operation)
        case .open, .openSeveral, .openWithProgress, .pin, .remove, .forget: try await use(operation)
        default: try await manage(operation)
        }
    }

    private func use(_ operation: Operation) async throws -> [String] {
        switch operation {
        case .open: return try faults(of: await cache.open(key), key)
        case .openWithProgress: return try faults(of: await cache.open(key) { _ in }, key)
        case .openSeveral:
            let keys = try (0..<3).map { try key(number + $0) }
            let results = try await cache.open(keys)
            return try zip(keys, results).flatMap { key, result in
                if case .failure(.cancelled) = result { return [String]() }
                return try faults(of: result.get().value, key)
            }
        case .pin:
            let pin = try await cache.pin(key)
            for _ in 0..<number { await Task.yield() }
            // Half of them are dropped.
            if number.isMultiple(of: 2) { pin?.release() }
        case .remove: try await cache.remove(key)
        default: try await cache.forget(key)
        }
        return []
    }

    private func faults(of opened: PromotedFile?, _ key: ItemKey) throws -> [String] {
        guard let opened else { return [] }
        do {
            let content = try Data(contentsOf: opened.url)
            return content == Content.of(key.string) ? [] : ["\(key) is not what was stored"]
        } catch CocoaError.fileReadNoSuchFile where opened.location.area == .applicationSupport {
            // It was excluded, and has been purged since.
            return []
        }
    }

    private func manage(_ operation: Operation) async throws -> [String] {
        switch operation {
        case .evictBytes: try await cache.evict(.mebibytes(2))
        case .evictSource:
            try await cache.evict(
                EvictionRequest(source: "source-1", amount: .downTo(.mebibytes(1))),
                dryRun: number.isMultiple(of: 2))
        case .evictAll: try await cache.evictAll()
        case .trim: try await cache.trim()
        case .flush: try await cache.flush()
        case .configure:
            let policy = EvictionPolicyChoice.allCases[number % EvictionPolicyChoice.allCases.count]
            try await cache.configure { $0.evictionPolicy = policy }
        case .configureAll: try await cache.configure(cache.configuration())
        case .items: _ = try await cache.items()
        case .sources: _ = try await cache.sources()
        case .partials: _ = try await cache.partials()
        case .promoted: _ = try await cache.promotedFiles()
        case .statistics: _ = try await cache.statistics()
        case .capacity: _ = try await cache.capacity()
        case .configuration: _ = try await cache.configuration()
        case .verify: return try await verify()
        case .repair: try await repair()
        case .purgeExcluded: try await cache.purgeExcluded(unusedSince: .distantFuture, dryRun: !isExcluded)
        case .migrate: return try await migrate()
        default: try await reopen()
        }
        return []
    }

    private func verify() async throws -> [String] {
        let report = try await cache.verify(VerificationRequest(sample: 20, seed: seed)) { _ in }
        return report.damaged + report.modified + report.unreadable == 0 ? [] : ["\(report.findings)"]
    }

    private func repair() async throws {
        let report = try await cache.repair(dryRun: number.isMultiple(of: 2))
        if let failure = report.failures.first { throw failure.error }
    }

    private func migrate() async throws -> [String] {
        let folder = URL(filePath: container).appending(path: "migrated-\(seed)", directoryHint: .isDirectory)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { _ = rmdir(folder.path) }
        try Content.of("migrated").write(to: folder.appending(path: "file"))
        try await cache.migrate(
            MigrationRequest(of: FilePath(folder.path), as: .promoted(to: .documents), keyPrefix: "\(seed)/")
        ) { _ in }
        return []
    }

    /// What another process would do, and one that lets go without closing.
    private func reopen() async throws {
        let other = try await PrefetchCache(inContainer: container)
        _ = try await other.read(key)
        try await other.store(Content.of(key.string), as: metadata())
        if number.isMultiple(of: 2) { try await other.close() }
    }
}
