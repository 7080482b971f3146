public import Logging
public import PrefetchCaching
internal import PrefetchFileSystem
internal import Synchronization

#if canImport(Darwin)
    public import Foundation
#endif

/// Downloads into a cache, politely.
///
/// Request what the user will probably want, and forget about it: a download resumes where an earlier one ended, is
/// stored only if it is complete and as expected, and ends if the cache has no room for it.
///
/// ```swift
/// let downloader = PrefetchDownloader(
///     cache: cache, configuration: DownloaderConfiguration(hosts: ["media.example.org"]))
///
/// let download = downloader.prefetch(
///     DownloadRequest(url, key: "episode-42", destination: .documents("Episode 42.mp3")))
/// switch await download.outcome {
/// case .stored, .notModified: break
/// case .failed(let error): log(error)
/// default: break
/// }
/// ```
///
/// While the cache is suspended, nothing is transferred. Afterwards each download resumes after its complete chunks.
///
/// - Note: Downloads end with their process. Their complete chunks are kept.
public final class PrefetchDownloader: Sendable {
    private struct State {
        /// The downloads by key. The first of each key is running; the others wait for it to end.
        var jobs: [ItemKey: [DownloadJob]] = [:]
        var lastNumber = 0
        /// The lists of the sources that were handed over, see ``Rounds``.
        var rounds = Rounds()
    }

    let configuration: DownloaderConfiguration
    let cache: PrefetchCache
    private let environment: DownloaderEnvironment
    private let slots: TransferSlots
    private let keeper: ConditionKeeper
    private let stalls: StallDetection
    private let state = UnfairMutex(State())
    private let watch = UnfairMutex<Task<Void, Never>?>(nil)

    /// Creates a downloader for a cache. The logger receives failures, with the key and the origin of the URL.
    public convenience init(
        cache: PrefetchCache, configuration: DownloaderConfiguration,
        logger: Logger = Logger(label: "PrefetchDownloader")
    ) {
        self.init(cache, configuration, DownloaderEnvironment(logger: logger))
    }

    #if canImport(Darwin)
        /// Creates a downloader that transfers by a session of the app: for its proxies, its credentials, or its trust in
        /// servers. The session must not answer from a cache. Its delegate is asked only what concerns all of the session.
        public convenience init(
            cache: PrefetchCache, configuration: DownloaderConfiguration, session: URLSession,
            logger: Logger = Logger(label: "PrefetchDownloader")
        ) {
            var environment = DownloaderEnvironment(logger: logger)
            environment.transport = SessionTransport(session)
            self.init(cache, configuration, environment)
        }
    #endif

    init(
        _ cache: PrefetchCache, _ configuration: DownloaderConfiguration,
        _ environment: DownloaderEnvironment
    ) {
        self.cache = cache
        self.configuration = configuration
        self.environment = environment
        slots = TransferSlots(configuration)
        keeper = ConditionKeeper(cache, configuration.device, environment)
        stalls = StallDetection(SpeedLimit(configuration.stallTimeout), sleep: environment.sleep)
        let pressure = Task { [weak self, events = cache.events] in
            for await case .pressure(let level) in events where level >= .elevated {
                self?.stopOpportunistic(under: level)
            }
        }
        watch.withLock { $0 = pressure }
    }

    deinit {
        watch.withLock { $0?.cancel() }
    }

    /// Starts a download, or joins one that is in progress for an equivalent request.
    @discardableResult
    public func prefetch(_ request: DownloadRequest) -> Download {
        beginRounds(for: CollectionOfOne(request))
        return start(request)
    }

    /// A list that names a key again whose download is over is the next one of its source.
    private func beginRounds(for requests: some Sequence<DownloadRequest>) {
        let now = environment.now()
        state.withLock { state in
            let new = requests.filter { state.jobs[$0.key] == nil }
            for request in new { state.rounds.begin(with: request, now: now) }
            // Before the first of them begins, so that it displaces none that was not handed over yet.
            for request in new { _ = state.rounds.turn(of: request) }
        }
    }

    private func start(_ request: DownloadRequest) -> Download {
        let download = Download(request.key)
        let conditions = configuration.conditions(for: request)
        let (job, first) = state.withLock { state in
            let jobs = state.jobs[request.key, default: []]
            if let job = jobs.first(where: {
                $0.conditions == conditions && $0.request.serves(request) && $0.add(download)
            }) {
                return (job, jobs.first)
            }
            state.lastNumber += 1
            let job = DownloadJob(
                request, under: conditions, number: state.lastNumber, on: terms(for: request, &state))
            _ = job.add(download)
            state.jobs[request.key, default: []].append(job)
            if jobs.isEmpty { start(job) }
            return (job, jobs.first)
        }
        download.whenCancelled { [weak self, weak job] download in
            guard let job else { return }
            job.remove(download)
            self?.endIfWaiting(job)
        }
        if let first, request.intent == .userRequested {
            first.makeUrgent()
            slots.raise(first.number)
        }
        return download
    }

    private func terms(for request: DownloadRequest, _ state: inout State) -> AdmissionTerms {
        AdmissionTerms(
            request.admission ?? configuration.admission, state.rounds.turn(of: request),
            usesGate: configuration.pausesUnopenedSources)
    }

    func run(_ job: DownloadJob) -> DownloadRun {
        DownloadRun(
            job: job, configuration: configuration, cache: cache, environment: environment, slots: slots,
            keeper: keeper, stalls: stalls)
    }

    /// Starts or joins many downloads. Of those waiting for a slot, user-requested ones start first, then those of
    /// higher priority, then those that were added first.
    ///
    /// Hand over what the user wants most first: of the items of one source and priority, none is evicted for one that
    /// comes after it. So a list that exceeds the budget ends with its beginning in the cache, and the same list handed
    /// over at the next launch downloads nothing again. A new item at its beginning takes the place of the last.
    /// Requests that are made one by one form a list, too, until a key recurs or a minute passes without a download.
    @discardableResult
    public func prefetch(_ requests: some Sequence<DownloadRequest>) -> [Download] {
        let requests = Array(requests)
        beginRounds(for: requests)
        // Otherwise the first of the list would have the first slots.
        let order = requests.indices.sorted { (requests[$0].priority, $1) > (requests[$1].priority, $0) }
        var downloads: [Download?] = Array(repeating: nil, count: requests.count)
        for index in order { downloads[index] = start(requests[index]) }
        return downloads.compactMap(\.self)
    }

    /// Cancels all downloads, and waits until their partials have been kept.
    public func cancelAll() async {
        let jobs = jobs
        for job in jobs {
            job.stop(.cancelled)
            endIfWaiting(job)
        }
        for job in jobs { await job.waitUntilEnded() }
    }

    private var jobs: [DownloadJob] { state.withLock { $0.jobs.values.flatMap(\.self) } }

    private func stopOpportunistic(under pressure: Pressure) {
        for job in jobs where job.request.intent == .opportunistic && job.hasStarted {
            job.stop(.pressure(pressure))
        }
    }

    /// Begins with the first download of a key. Its place in the queue is that of this call.
    private func start(_ job: DownloadJob) {
        let run = run(job)
        slots.add(run.entry)
        job.start(on: cache.downloadExecutor) { [self] in
            job.emit(.finished(await run.outcome()))
            state.withLock { remove(job, &$0) }
        }
    }

    /// Ends a stopped download that has not begun: it waits for another one of its key, which may take hours.
    private func endIfWaiting(_ job: DownloadJob) {
        let isWaiting = state.withLock { state in
            guard job.isStopped, let jobs = state.jobs[job.request.key], jobs.contains(where: { $0 === job }),
                jobs.first !== job
            else { return false }
            remove(job, &state)
            return true
        }
        if isWaiting { job.emit(.finished(job.stoppedOutcome(keptBytes: 0))) }
    }

    private func remove(_ job: DownloadJob, _ state: inout State) {
        let key = job.request.key
        let wasFirst = state.jobs[key]?.first === job
        state.jobs[key]?.removeAll { $0 === job }
        if let next = state.jobs[key]?.first {
            if wasFirst { start(next) }
        } else {
            state.jobs[key] = nil
        }
        if state.jobs.isEmpty { state.rounds.pause(now: environment.now()) }
    }
}
