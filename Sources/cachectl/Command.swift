internal import ArgumentParser
internal import PrefetchCaching
internal import PrefetchFileSystem

/// A subcommand that works on a cache.
protocol CacheCommand: AsyncParsableCommand {
    var shared: SharedOptions { get }

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
    func perform(in session: Session) async throws
}

/// A subcommand that inspects files and changes nothing. It does not open a cache, since opening creates a missing
/// one.
protocol InspectingCommand: AsyncParsableCommand {
    var shared: SharedOptions { get }

    /// Whether the command requires `--container` or `--app`.
    var needsPlace: Bool { get }

    /// Performs the command. May block.
    func inspect(_ fileSystem: any FileSystem, to output: Output) throws -> ExitCode
}

/// A subcommand that needs no cache and only prints text.
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
    var recoversOnOpening: Bool { true }
    var needsCache: Bool { true }
    var isReadOnly: Bool { false }

    func checkInput() throws {}

    /// Opens the cache, performs the command, and closes the cache even if the command fails.
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
                areas: standIn?.areas ?? place.areas, environment: environment,
                isRecovering: recoversOnOpening)
            let session = Session(
                cache: cache, place: place, output: Output(isJSON: shared.json, isQuiet: shared.quiet))
            let performed = await withTaskExecutorPreference(cache.executor) {
                await result { try await performReportingShortage(in: session) }
            }
            let flushed = await result { try session.output.flush() }
            let closed = await result { try await cache.close() }
            // Report the first error: later ones are likely consequences of it.
            try performed.get()
            try flushed.get()
            // A failed close loses only the record of recent uses: the command itself has succeeded.
            if case .failure(let error) = closed {
                StandardStreams.writeError("cachectl: warning: the cache was not closed properly: \(error)")
            }
        } catch {
            throw CommandFailure(error)
        }
    }

    private func standIn(for place: Place) throws -> StandIn? {
        guard needsCache || isReadOnly else { return nil }
        let roots = try CacheRoots(in: place.areas)
        if needsCache, roots.isEmpty {
            throw CommandFailure(
                .notFound,
                "there is no cache in \(place.areas.caches.displayText); check --container or --app: only 'put', 'fetch', "
                    + "'migrate --from' and a changing 'configure' create one")
        }
        return isReadOnly && !roots.isComplete ? try StandIn(for: place.areas, having: roots) : nil
    }

    /// Performs the command. If the volume has too little space and output is JSON, prints the byte counts.
    private func performReportingShortage(in session: Session) async throws {
        do {
            try await perform(in: session)
        } catch CacheError.insufficientSpace(let needed, let available) where session.output.isJSON {
            let error = CacheError.insufficientSpace(needed: needed, available: available)
            try session.output.print(
                json: [
                    "error": "insufficientSpace", "neededBytes": needed, "availableBytes": available,
                    "message": error.description,
                ])
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

extension InspectingCommand {
    var needsPlace: Bool { true }

    /// Performs the command on an executor whose threads may block.
    func inspect() async throws(CommandFailure) -> ExitCode {
        do {
            return try await withTaskExecutorPreference(BlockingExecutor()) {
                let output = Output(isJSON: shared.json, isQuiet: shared.quiet)
                let code = try inspect(LiveFileSystem(), to: output)
                try output.flush()
                return code
            }
        } catch {
            throw CommandFailure(error)
        }
    }
}
