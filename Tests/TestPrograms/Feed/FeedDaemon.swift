internal import ArgumentParser
internal import Foundation
internal import Logging
internal import PrefetchCaching
internal import PrefetchDownloading
internal import Synchronization

/// One of the two processes that follow the feed.
struct FeedDaemon: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "feed-daemon", abstract: "Follows a feed, for 'feed'.", shouldDisplay: false)

    @Option var container: String
    @Option(help: "The server's folder.")
    var server: String
    @Option(help: "0 or 1: this process downloads the episodes with such numbers, modulo 2 of their halves.")
    var half: Int
    @Flag var broken = false

    func run() async throws {
        let notes = Notebook(isChild: true)
        let rounds = Parent.lines()
        let container = URL(filePath: container, directoryHint: .isDirectory)
        let vitals = try Vitals(notes, container: container)
        try await follow(rounds, in: container, notes)
        try await vitals.end(idleThreads: Feed.idleThreads)
    }

    private func follow(_ rounds: AsyncStream<String>, in container: URL, _ notes: Notebook) async throws {
        let watched = try await WatchedCache(in: container, notes: notes, isBroken: broken)
        guard let server = URL(string: server) else { throw ValidationError("'\(server)' is no URL") }
        let listener = FeedListener(watched, server: server, half: half)
        for await line in rounds {
            guard let round = FeedRound(line) else { break }
            do {
                try await listener.follow(round)
            } catch {
                notes.fault("round \(round.number): \(error)")
            }
            notes.add(.reached("done \(round.number)"))
        }
        try await watched.close()
    }
}

/// What such a process does in each round: downloads its half of the feed, while somebody reads, and opens what the user
/// wants.
final class FeedListener: Sendable {
    private let watched: WatchedCache
    private let notes: Notebook
    private let downloader: PrefetchDownloader
    private let server: URL
    private let half: Int
    /// Episodes that were complete in the cache at the end of an earlier round.
    private let known = Mutex<[Episode]>([])

    init(_ watched: WatchedCache, server: URL, half: Int) {
        self.watched = watched
        notes = watched.notes
        self.server = server
        self.half = half
        downloader = PrefetchDownloader(
            cache: watched.cache, configuration: DownloaderConfiguration(hosts: ["127.0.0.1"]),
            // What fails is noted.
            logger: Logger(label: "feed", factory: { _ in SwiftLogNoOpLogHandler() }))
    }

    func follow(_ round: FeedRound) async throws {
        let feed = try await fetchFeed(round.number)
        let pins = await pins(round)
        let reading = Task.detached { [self] in await look(round, upTo: feed) }
        await download(feed.episodes.filter { $0.number / 2 % 2 == half })
        notes.add(.reached("downloaded \(round.number)"))
        await open(round, upTo: feed)
        reading.cancel()
        await reading.value
        for pin in pins { pin.release() }
        known.withLock { $0 = feed.episodes }
    }

    private func request(
        _ name: String, _ key: ItemKey, expecting expectation: ContentExpectation? = nil
    ) -> DownloadRequest {
        var request = DownloadRequest(
            server.appending(path: name), key: key, source: "feed",
            destination: .documents(FileName(sanitizing: name), in: "Feed"))
        if let expectation { request.expectations = [expectation] }
        return request
    }

    private func fetchFeed(_ round: Int) async throws -> FeedText {
        let key: ItemKey = "feed"
        await note(downloader.prefetch(request(FeedText.name, key)).outcome, of: key)
        let found = Mutex<FeedText?>(nil)
        await watched.read(key) { content in
            let feed = FeedText(content)
            found.withLock { $0 = feed }
            return feed?.round == round && feed.map { Data($0.text.utf8) } == content
        }
        guard let feed = found.withLock({ $0 }) else { throw ValidationError("There is no feed.") }
        return feed
    }

    private func download(_ episodes: [Episode]) async {
        let downloads = episodes.compactMap { episode -> (ItemKey, Download)? in
            guard let key = try? episode.key else { return nil }
            let expectation = episode.hasDigest ? ContentExpectation.sha256(episode.digest) : nil
            return (key, downloader.prefetch(request(episode.name, key, expecting: expectation)))
        }
        for (key, download) in downloads { await note(download.outcome, of: key) }
    }

    private func note(_ outcome: DownloadOutcome, of key: ItemKey) {
        switch outcome {
        case .stored(let summary): watched.did("stored", key, bytes: summary.storedBytes)
        case .refused(let refusal, _):
            watched.did("refused", key)
            // The other process may have handed it to the user meanwhile.
            if refusal != .alreadyPromoted { notes.fault("download: \(key): refused: \(refusal)") }
        case .notModified: notes.did("not modified", key.string)
        case .alreadyCached: notes.did("already cached", key.string)
        case .alreadyPromoted: watched.did("already promoted", key)
        case .failed(let error): notes.fault("download: \(error)")
        default: notes.fault("download: \(key): \(outcome)")
        }
    }

    /// Pins what the user has not opened: the playlist. It has more items than the process may have descriptors.
    private func pins(_ round: FeedRound) async -> [Pin] {
        let gone = Set(round.openedBefore + round.toOpen)
        var pins: [Pin] = []
        for episode in known.withLock({ $0 }) where !gone.contains(episode.number) {
            do {
                let key = try episode.key
                let pin = try await watched.timed("pin") { () async throws(CacheError) in
                    try await watched.cache.pin(key)
                }
                if let pin { pins.append(pin) } else { notes.fault("pin: '\(key)' is missing") }
            } catch CacheError.tooManyPins {
                break
            } catch {
                notes.fault("pin: after \(pins.count) pins: \(error)")
                break
            }
        }
        notes.saw(pins.count, "pins")
        return pins
    }

    /// Reads what is there, and asks for what is known of it, until told to stop.
    private func look(_ round: FeedRound, upTo feed: FeedText) async {
        let versions = Dictionary(uniqueKeysWithValues: feed.episodes.map { ($0.number, $0.version) })
        let known = known.withLock { $0 }
        while !Task.isCancelled, let episode = known.randomElement() {
            do {
                let key = try episode.key
                let isThere = await watched.read(key) { content in
                    Episode.version(of: content, as: episode.number).map {
                        $0 <= versions[episode.number] ?? 0
                    } ?? false
                }
                if !isThere { notes.fault("content: '\(key)' was stored and is missing") }
                if let opened = round.openedBefore.randomElement() { await expectPromoted(opened) }
                try await Task.sleep(for: .milliseconds(5))
            } catch is CancellationError {
                return
            } catch {
                notes.fault("look: \(error)")
            }
        }
    }

    private func expectPromoted(_ number: Int) async {
        do {
            let key = try Episode(number: number, version: 0).key
            let status = try await watched.timed("status") { () async throws(CacheError) in
                try await watched.cache.status(of: key)
            }
            if case .promoted = status { return }
            notes.fault(
                "status: '\(key)' was opened, and is said to be \(status == nil ? "unknown" : "cached")")
        } catch {
            notes.fault("status: \(error)")
        }
    }

    /// Opens what the user wants, as the other process does: half of it one by one, half of it together.
    private func open(_ round: FeedRound, upTo feed: FeedText) async {
        let versions = Dictionary(uniqueKeysWithValues: feed.episodes.map { ($0.number, $0.version) })
        @Sendable func isRight(_ number: Int) -> (Data) -> Bool {
            { Episode.version(of: $0, as: number).map { $0 <= versions[number] ?? 0 } ?? false }
        }
        let numbers = half == 0 ? round.toOpen : round.toOpen.reversed()
        await withTaskGroup { group in
            for number in numbers.prefix(numbers.count / 2) {
                group.addTask { [self] in
                    guard let key = try? Episode(number: number, version: 0).key else { return }
                    notePath(await watched.open(key, isRight: isRight(number)), of: key)
                    await expectPromoted(number)
                }
            }
        }
        let rest = Array(numbers.dropFirst(numbers.count / 2))
        do {
            let keys = try rest.map { try Episode(number: $0, version: 0).key }
            let results = try await watched.timed("open together") { () async throws(CacheError) in
                try await watched.cache.open(keys)
            }
            for (number, (key, result)) in zip(rest, zip(keys, results)) {
                notePath(try watched.note(result.get().value, of: key, isRight: isRight(number)), of: key)
            }
        } catch {
            notes.fault("open: \(error)")
        }
        await expectNoneListed(round)
    }

    /// What was opened, by whichever process, is no cached item any more.
    private func expectNoneListed(_ round: FeedRound) async {
        do {
            let items = try await watched.timed("items") { () async throws(CacheError) in
                try await watched.cache.items()
            }
            let listed = Set(items.map(\.key.string)).intersection(round.toOpen.map { "episode-\($0)" })
            for key in listed { notes.fault("items: '\(key)' was opened, and is listed") }
        } catch {
            notes.fault("items: \(error)")
        }
    }

    private func notePath(_ opened: PromotedFile?, of key: ItemKey) {
        guard let opened else { return notes.fault("open: '\(key)' was there and is missing") }
        notes.did("path", "\(key) \(opened.path)")
    }
}
