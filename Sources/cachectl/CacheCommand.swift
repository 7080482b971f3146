internal import ArgumentParser
internal import PrefetchCache

/// A subcommand that works on a cache.
protocol CacheCommand: AsyncParsableCommand {
    var shared: SharedOptions { get }

    /// Whether what a crash left behind is settled when the cache is opened.
    var settlesAtOpening: Bool { get }

    /// Whether nothing is to be changed: where there is no cache none is made, and an empty one stands in for it.
    var onlyLooks: Bool { get }

    /// Does the command's work. It may block: it runs on one of the cache's own threads.
    func perform(in session: Session) async throws
}

/// A subcommand that needs no cache: it prints a text.
protocol TextCommand: ParsableCommand {
    func text() throws(CommandFailure) -> String
}

/// What a command works with.
struct Session {
    let cache: PrefetchCache
    let place: Place
    let output: Output
}

extension CacheCommand {
    var settlesAtOpening: Bool { true }
    var onlyLooks: Bool { false }

    /// Opens the cache, performs the command and closes the cache, whatever happened.
    func run() async throws(CommandFailure) {
        do {
            let place = try shared.place()
            let standIn = try await standIn(for: place)
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
            // What is lost when only this fails is a note of what was used last: the command has done
            // its work all the same.
            if case .failure(let error) = closed {
                StandardStreams.writeError("cachectl: warning: the cache was not closed in order: \(error)")
            }
        } catch {
            throw CommandFailure(error)
        }
    }

    private func standIn(for place: Place) async throws -> StandIn? {
        guard onlyLooks else { return nil }
        return try await withTaskExecutorPreference(BlockingExecutor()) { try StandIn(for: place.areas) }
    }

    /// Performs the command. Where the volume has too little room, the figures are the command's output.
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
