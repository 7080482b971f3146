public import CoreMetrics
public import PrefetchCaching

/// Reports a cache to the app's metrics backend, whichever of swift-metrics it is.
///
/// ```swift
/// let metrics = CacheMetrics(of: cache, dimensions: [("app", "podcasts")])
/// Task { await metrics.run() }
/// let file = try await metrics.measure("open") { try await cache.open("episode-42") }
/// ```
///
/// Counters, named `prefetchcache_process_…`, count the events of this process since ``run(every:)`` was called. Gauges show
/// the whole cache, whoever uses it. The article Metrics of PrefetchCaching lists all names.
///
/// It listens to the events like any other listener, and the cache does no more work for it than for them.
public struct CacheMetrics: Sendable {
    private let cache: PrefetchCache
    private let dimensions: [(String, String)]
    private let factory: any MetricsFactory

    /// Prepares to report a cache, which begins with ``run(every:)``.
    ///
    /// Every metric carries the `dimensions`, such as the name of the app: they tell the caches of a process apart. The
    /// `factory` is the backend, by default that of the process.
    public init(
        of cache: PrefetchCache, dimensions: [(String, String)] = [],
        factory: any MetricsFactory = MetricsSystem.factory
    ) {
        self.cache = cache
        self.dimensions = dimensions
        self.factory = factory
    }

    /// Reports until the cache is closed or the task cancelled. One call for each cache: a second one counts all events
    /// again.
    ///
    /// - Parameter interval: How often the gauges are measured, which takes a few short reads of the catalog.
    public func run(every interval: Duration = .seconds(15)) async {
        await run(
            measuringAt: AsyncStream<Void> {
                do {
                    return try await Task.sleep(for: interval)
                } catch {
                    // Cancelled.
                    return nil
                }
            })
    }

    /// As ``run(every:)``, with gauges that are measured at the beginning and whenever an element arrives.
    public func run(measuringAt moments: some AsyncSequence<Void, Never> & Sendable) async {
        let events = cache.events
        // A backend knows the growth of a sum only once it has seen the sum.
        for event in Event.allCases { add(0, to: event) }
        for (reason, _) in Refusal.reasons { add(0, to: .refusals, ("reason", reason)) }
        for name in CounterName.allCases where ![.events, .refusals].contains(name) { add(0, to: name) }
        await withTaskGroup(of: Void.self) { group in
            group.addTask {
                await measure()
                for await _ in moments { await measure() }
            }
            for await event in events { count(event) }
            group.cancelAll()
        }
    }

    /// Performs a call, and records how long it took in the timer `prefetchcache_process_call_duration_seconds`, whether
    /// it returns or throws. `call` becomes the dimension of that name. Use few values: each is a series of its own.
    public func measure<Result, Failure: Error>(
        _ call: String, isolation: isolated (any Actor)? = #isolation,
        _ body: () async throws(Failure) -> Result
    ) async throws(Failure) -> Result {
        let start = ContinuousClock.now
        defer {
            Timer(
                label: "prefetchcache_process_call_duration_seconds",
                dimensions: dimensions + [("call", call)], factory: factory
            ).recordNanoseconds(Int64((ContinuousClock.now - start) / .nanoseconds(1)))
        }
        return try await body()
    }

    // MARK: Counters

    /// The values of the dimension `event`.
    private enum Event: String, CaseIterable {
        case stored, refused, evicted, expired, removed, promoted, forgotten, quarantined, purged
        case newerFormat, catalogRebuilt, eventsLost
    }

    private enum CounterName: String, CaseIterable {
        case events, refusals
        case storedContentBytes = "stored_content_bytes"
        case storedFileBytes = "stored_file_bytes"
        case evictedChargedBytes = "evicted_charged_bytes"
        case failedMeasurements = "failed_measurements"
    }

    private func count(_ event: CacheEvent) {
        switch event {
        case .stored(_, let summary):
            add(1, to: .stored)
            add(summary.contentBytes, to: .storedContentBytes)
            add(summary.storedBytes, to: .storedFileBytes)
        case .refused(_, let refusal):
            add(1, to: .refused)
            add(1, to: .refusals, ("reason", refusal.reason))
        case .evicted(_, let bytes):
            add(1, to: .evicted)
            add(bytes, to: .evictedChargedBytes)
        case .expired: add(1, to: .expired)
        case .removed: add(1, to: .removed)
        case .promoted: add(1, to: .promoted)
        case .forgotten: add(1, to: .forgotten)
        case .quarantined: add(1, to: .quarantined)
        case .purged: add(1, to: .purged)
        case .newerFormat: add(1, to: .newerFormat)
        case .catalogRebuilt: add(1, to: .catalogRebuilt)
        case .eventsLost(let number): add(Int64(number), to: .eventsLost)
        case .pressure(let level): record(.pressure(level))
        }
    }

    private func add(_ number: Int64, to event: Event) {
        add(number, to: .events, ("event", event.rawValue))
    }

    private func add(_ number: Int64, to name: CounterName, _ dimension: (String, String)? = nil) {
        Counter(
            label: "prefetchcache_process_\(name.rawValue)_total",
            dimensions: dimensions + [dimension].compactMap(\.self), factory: factory
        ).increment(by: number)
    }

    // MARK: Gauges

    /// What cannot be read is left as it was: another process may hold the catalog for a moment.
    private func measure() async {
        do {
            let statistics = try await cache.statistics()
            for gauge in CacheGauge.all(statistics, try await cache.capacity()) { record(gauge) }
            let figures = statistics.figures
            record(figures.usedRatio, as: "prefetchcache_used_ratio")
            record(figures.hitRatio, as: "prefetchcache_hit_ratio")
            record(figures.meanDelay, as: "prefetchcache_first_use_delay_mean_seconds")
        } catch {
            add(1, to: .failedMeasurements)
        }
    }

    private func record(_ gauge: CacheGauge) { record(Double(gauge.value), as: gauge.name) }

    private func record(_ value: Double?, as name: String) {
        guard let value else { return }
        Gauge(label: name, dimensions: dimensions, factory: factory).record(value)
    }
}
