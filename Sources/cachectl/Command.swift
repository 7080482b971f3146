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

    /// Whether the command must not change anything: missing parts of a cache are replaced by a temporary empty one
    /// instead of being created.
    var isReadOnly: Bool { get }

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
    var recoversOnOpening: Bool { !isReadOnly }
    var needsCache: Bool { true }
    var isReadOnly: Bool { false }

    func checkInput() throws {}

    func run() async throws { try await runOnCache() }

    /// Opens the cache, performs the command, and closes the cache even if the command fails.
    func runOnCache() async throws {
        let place = try shared.place()
        let emptyRoots = try await withTaskExecutorPreference(BlockingExecutor()) {
            try checkInput()
            return try self.emptyRoots(for: place.areas)
        }
        defer { emptyRoots?.remove() }
        var environment = CacheEnvironment.live(logger: shared.logger)
        if let emptyRoots { environment.probe = emptyRoots.probe }
        let cache = try await PrefetchCache(
            areas: emptyRoots?.areas ?? place.areas, environment: environment,
            isRecovering: recoversOnOpening)
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

    /// - Returns: `nil` if the cache is used, or created, where it is.
    private func emptyRoots(for areas: StorageAreas) throws -> EmptyRoots? {
        guard needsCache || isReadOnly else { return nil }
        let hasCaches = try PrefetchCache.hasRoot(in: areas.caches, LiveFileSystem())
        let hasSupport = try PrefetchCache.hasRoot(in: areas.applicationSupport, LiveFileSystem())
        if needsCache, !hasCaches, !hasSupport {
            throw CommandFailure(
                .notFound,
                "there is no cache in \(areas.caches.displayText); check --container or --app: only 'put', 'fetch', "
                    + "'migrate --from' and a changing 'configure' create one")
        }
        guard isReadOnly, !hasCaches || !hasSupport else {
            if needsCache {
                if !hasCaches {
                    warnOfLoss(in: areas.caches, "without items; what was opened is still known")
                }
                if !hasSupport {
                    warnOfLoss(in: areas.applicationSupport, "and what was opened is not known any more")
                }
            }
            return nil
        }
        return try EmptyRoots(for: areas, hasCaches: hasCaches, hasSupport: hasSupport)
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

    func result(of body: () async throws -> Void) async -> Result<Void, any Error> {
        do {
            return .success(try await body())
        } catch {
            return .failure(error)
        }
    }
}

/// Temporary empty folders in place of those that a cache lacks, so that a read-only command creates nothing in the
/// container.
private struct EmptyRoots {
    let areas: StorageAreas
    /// Reports on the volume where the cache would be.
    let probe: any VolumeProbing
    private let folder: FilePath

    init(for areas: StorageAreas, hasCaches: Bool, hasSupport: Bool) throws(FileSystemError) {
        folder = FilePath(FileManager.default.temporaryDirectory.path)
            .appending("cachectl-\(UUID().uuidString)")
        self.areas = areas.replacing(
            caches: hasCaches ? areas.caches : folder.appending("Caches"),
            applicationSupport: hasSupport
                ? areas.applicationSupport : folder.appending("Application Support"))
        probe = FixedProbe(folder: try Self.nearest(areas.caches))
    }

    /// The folder, or its nearest existing ancestor.
    private static func nearest(_ path: FilePath) throws(FileSystemError) -> Directory {
        let fileSystem = LiveFileSystem()
        var path = path
        while true {
            do throws(FileSystemError) {
                return try Directory(at: path, in: fileSystem)
            } catch {
                guard error.isNotFound, path.removeLastComponent() else { throw error }
                if path.isEmpty { path = "." }
            }
        }
    }

    /// Removes the temporary folder. Call after closing the cache.
    func remove() {
        do {
            try FileManager.default.removeItem(atPath: folder.string)
        } catch {
            // The system clears its temporary folder eventually.
        }
    }
}

/// Reports on the volume of one folder, whichever file is passed.
private struct FixedProbe: VolumeProbing {
    let folder: Directory
    let probe = VolumeProbe(fileSystem: LiveFileSystem())

    func state(of _: Descriptor) throws(FileSystemError) -> VolumeState {
        try probe.state(of: folder.descriptor)
    }

    func available(of _: Descriptor) throws(FileSystemError) -> Int64 {
        try probe.available(of: folder.descriptor)
    }
}
