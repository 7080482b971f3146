internal import ArgumentParser
internal import Foundation
internal import PrefetchCaching
internal import PrefetchFileSystem
internal import SystemPackage

/// A subcommand that takes the shared options.
protocol Command: AsyncParsableCommand {
    var shared: SharedOptions { get }

    /// Whether the command requires `--container` or `--app`.
    var needsPlace: Bool { get }

    /// Whether the command ends in its own way when a signal arrives.
    var handlesSignals: Bool { get }
}

/// A subcommand that works on a cache.
protocol CacheCommand: Command {
    /// Whether opening the cache finishes the promotions that a crash interrupted.
    var recoversOnOpening: Bool { get }

    /// Whether the command fails if there is no cache, for example because the location was mistyped.
    var needsCache: Bool { get }

    /// Whether the command changes nothing on disk. What a cache lacks is empty for it.
    var isLooking: Bool { get }

    /// Validates the input before the cache is opened, so that invalid input does not create a cache. May block.
    func checkInput() throws

    /// Performs the command. May block: it runs on one of the cache's own threads.
    func perform(on cache: PrefetchCache, at place: Place, to output: Output) async throws
}

extension Command {
    var needsPlace: Bool { true }
    var handlesSignals: Bool { false }
}

extension CacheCommand {
    var recoversOnOpening: Bool { true }
    var needsCache: Bool { true }
    var isLooking: Bool { false }

    func checkInput() throws {}

    /// Opens the cache, performs the command, and closes the cache even if the command fails.
    func run() async throws {
        let place = try shared.place()
        try await withTaskExecutorPreference(BlockingExecutor()) {
            try checkInput()
            if needsCache { try requireCache(in: place.areas) }
            if !isLooking { try requireOwnFolders(of: place.areas) }
        }
        let environment = CacheEnvironment.live(logger: shared.logger)
        let cache =
            if isLooking {
                try await PrefetchCache(lookingAt: place.areas, environment: environment)
            } else {
                try await PrefetchCache(
                    areas: place.areas, environment: environment, isRecovering: recoversOnOpening)
            }
        let output = shared.output
        let performed = await withTaskExecutorPreference(cache.executor) {
            await result { try await perform(on: cache, at: place, to: output) }
        }
        if output.isJSON, case .failure(let error as CacheError) = performed,
            case .insufficientSpace(let needed, let available) = error
        {
            let record: JSONObject = [
                "error": "insufficientSpace", "neededBytes": needed, "availableBytes": available,
                "message": error.description,
            ]
            try output.print(json: record)
        }
        let flushed = await result { try output.flush() }
        let closed = await result { try await cache.close() }
        // Report the first error: later ones are likely consequences of it.
        try performed.get()
        try flushed.get()
        // A failed close loses only the record of recent uses: the command itself has succeeded.
        if case .failure(let error) = closed {
            StandardStreams.writeError("cachectl: warning: the cache was not closed properly: \(error)")
        }
    }

    /// Refuses to let root own what a user's cache lacks: the user would be locked out. Whose it is, the nearest folder that is
    /// there tells.
    private func requireOwnFolders(of areas: StorageAreas) throws {
        let fileSystem = LiveFileSystem()
        guard fileSystem.userID == 0 else { return }
        for area in [areas.caches, areas.applicationSupport] {
            let folder = try Directory.nearest(to: area, in: fileSystem)
            let owner = try fileSystem.attributes(of: folder.descriptor).owner
            guard owner != 0 else { continue }
            throw CommandFailure(
                .notPermitted,
                "the cache in \(area.displayText) would belong to root, and the folder belongs to another user, who could "
                    + "not use it; run it as that user: sudo -u '#\(owner)' cachectl …")
        }
    }

    func requireCache(in areas: StorageAreas) throws {
        let hasCaches = try PrefetchCache.hasRoot(in: areas.caches, LiveFileSystem())
        let hasSupport = try PrefetchCache.hasRoot(in: areas.applicationSupport, LiveFileSystem())
        if !hasCaches, !hasSupport {
            throw CommandFailure(
                .notFound,
                "there is no cache in \(areas.caches.displayText); check --container or --app: only 'put', 'fetch', "
                    + "'migrate --from' and a changing 'configure' create one")
        }
        if isLooking { return }
        if !hasCaches { warnOfLoss(in: areas.caches, "without items; what was opened is still known") }
        if !hasSupport {
            warnOfLoss(in: areas.applicationSupport, "and what was opened is not known any more")
        }
    }

    /// One of the two folders of a cache may go without the other, when the system purges or somebody tidies up.
    private func warnOfLoss(in area: FilePath, _ consequence: String) {
        StandardStreams.writeError(
            "cachectl: warning: the cache's folder in \(area.displayText) is gone, and made again: \(consequence)"
        )
    }

    /// Why there is nothing under a key that is neither cached nor in place as an opened file.
    func absence(of key: ItemKey, in cache: PrefetchCache) async throws -> any Error {
        guard let lost = try await cache.promotedFiles().first(where: { $0.key == key }) else {
            return CommandFailure(.absent, of: key)
        }
        return CacheError.movedOrDeleted(key: key, lost.path.displayText)
    }

    /// Does something with each key, once, up to the first failure: what was done before is still reported.
    ///
    /// - Parameter body: Returns whether there was anything under the key.
    /// - Returns: The keys under which there was nothing, and the failure.
    func each(of keys: [ItemKey], _ body: (ItemKey) async throws -> Bool) async -> (
        unknown: [ItemKey], failure: (any Error)?
    ) {
        var unknown: [ItemKey] = []
        var seen: Set<ItemKey> = []
        for key in keys where seen.insert(key).inserted {
            do {
                if try await !body(key) { unknown.append(key) }
            } catch {
                return (unknown, error)
            }
        }
        return (unknown, nil)
    }

    func result(of body: () async throws -> Void) async -> Result<Void, any Error> {
        do {
            return .success(try await body())
        } catch {
            return .failure(error)
        }
    }
}

extension [ItemKey] {
    /// `'a', 'b'`
    var quoted: String { map { "'\($0)'" }.joined(separator: ", ") }
}
