internal import ArgumentParser
internal import FileSystem
internal import PrefetchCache

/// A subcommand that works on a cache.
protocol CacheCommand: AsyncParsableCommand {
    var shared: SharedOptions { get }

    /// Whether opening the cache settles work that a crash interrupted.
    var settlesAtOpening: Bool { get }

    /// Whether the command fails where there is no cache, as at a mistyped place.
    var needsCache: Bool { get }

    /// Whether the command must not change anything: what is missing of a cache is not created, and an empty one
    /// stands in for it.
    var onlyLooks: Bool { get }

    /// Checks what can be checked without a cache, so that a mistake does not create one. It may block.
    func checkInput() throws(CommandFailure)

    /// Performs the command. It may block: it runs on one of the cache's own threads.
    func perform(in session: Session) async throws
}

/// A subcommand that needs no cache and prints a text.
protocol TextCommand: ParsableCommand {
    func text() throws(CommandFailure) -> String
}

/// The context in which a command runs.
struct Session {
    let cache: PrefetchCache
    let place: Place
    let output: Output
}

extension CacheCommand {
    var settlesAtOpening: Bool { true }
    var needsCache: Bool { true }

    func checkInput() throws(CommandFailure) {}

    var onlyLooks: Bool { false }

    /// Opens the cache, performs the command, and closes the cache in any case.
    func run() async throws(CommandFailure) {
        do {
            let place = try shared.place()
            let standIn = try await withTaskExecutorPreference(BlockingExecutor()) {
                try checkInput()
                return try self.standIn(for: place)
            }
            defer { standIn?.remove() }
            var environment = CacheEnvironment.live(logger: shared.logger)
            if let standIn { environment.probe = standIn.probe }
            let cache = try await PrefetchCache(
                areas: standIn?.areas ?? place.areas, environment: environment, isSettling: settlesAtOpening)
            let session = Session(
                cache: cache, place: place, output: Output(isJSON: shared.json, isQuiet: shared.quiet))
            let performed = await withTaskExecutorPreference(cache.executor) {
                await result { try await performReportingShortage(in: session) }
            }
            let flushed = await result { try session.output.flush() }
            let closed = await result { try await cache.close() }
            // The first error is the cause.
            try performed.get()
            try flushed.get()
            // When only this fails, just the record of recent uses is lost: the command has done its work.
            if case .failure(let error) = closed {
                StandardStreams.writeError("cachectl: warning: the cache was not closed properly: \(error)")
            }
        } catch {
            throw CommandFailure(error)
        }
    }

    private func standIn(for place: Place) throws -> StandIn? {
        guard needsCache || onlyLooks else { return nil }
        let roots = try CacheRoots(in: place.areas)
        if needsCache, roots.isEmpty {
            throw CommandFailure(
                .notFound,
                "there is no cache in \(place.areas.caches.displayText); check --container or --app: only 'put', 'fetch', "
                    + "'migrate --from' and a changing 'configure' create one")
        }
        return onlyLooks && !roots.isComplete ? try StandIn(for: place.areas, besides: roots) : nil
    }

    /// Performs the command. When the volume has too little room, prints the figures as the command's output.
    private func performReportingShortage(in session: Session) async throws {
        do {
            try await perform(in: session)
        } catch let error as CacheError {
            if session.output.isJSON, let record = ShortageRecord(error) {
                try session.output.print(json: record)
            }
            throw error
        }
    }

    private func result(of body: () async throws -> Void) async -> Result<Void, any Error> {
        do {
            return .success(try await body())
        } catch {
            return .failure(error)
        }
    }
}
