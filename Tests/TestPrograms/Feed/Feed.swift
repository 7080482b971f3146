internal import ArgumentParser
internal import Foundation
internal import HTTPTestServer
internal import PrefetchCaching
internal import Synchronization

struct Feed: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract:
            "Follows a feed of a real server with two processes on one cache, which are killed again and again."
    )

    /// Threads that wait for work at the end: the pool's, those of URLSession, and the watchers.
    static let idleThreads = 16
    /// A thread for each call under way, whatever it waits for, and those that the system's pool keeps for a few seconds.
    private static let threads = 128
    /// What a process may have on many systems.
    private static let descriptors = 256
    private static let limits = ["read": 1.0, "launch": 2, "others": 10]
    /// What the death of a process may have downloaded again, of each transfer under way: what was no whole chunk, and
    /// what the server had sent already.
    private static let underWay: Int64 = 4 << 20
    private static let transfers = 2

    @OptionGroup var options: ProgramOptions
    @Option(help: "How many episodes the feed begins with.")
    var episodes: Int?
    @Option(help: "Different numbers kill at different moments.")
    var seed: UInt64 = .random(in: 1...1_000_000)

    private var count: Int { episodes ?? (options.quick ? 60 : 420) }
    private var rounds: Int { options.quick ? 4 : 9 }

    func run() async throws {
        var verdict = Verdict("feed")
        if Nginx.program == nil {
            try Skipped.end("feed", "nginx is missing; '.ci/setup --servers' installs it")
        }
        if options.folder == nil, Scratch.obstacle == nil { try Scratch.runOnVolume(ofLength: 16 << 30) }
        try await Scratch.with(in: options.folder) { folder in
            let publisher = try Publisher(count)
            let notes = Notebook(isChild: false)
            let container = folder.appending(path: "container", directoryHint: .isDirectory)
            try await configure(container)
            let play = FeedPlay(publisher, container, notes, seed: seed, isBroken: options.broken)
            try await play.run(rounds: rounds)

            let vitals = try Vitals(notes, container: container)
            try await compare(play, publisher, notes, &verdict)
            try await vitals.end(idleThreads: Self.idleThreads)
            judge(publisher, play, &verdict)
            verdict.judge(
                notes.present, limits: Self.limits, threads: Self.threads, descriptors: Self.descriptors)
        }
        try verdict.end()
    }

    private func configure(_ container: URL) async throws {
        let cache = try await PrefetchCache(areas: .container(at: container))
        try await cache.configure { $0.budget = .fixed(.gibibytes(2)) }
        try await cache.close()
    }

    /// What a third process finds.
    private func compare(
        _ play: FeedPlay, _ publisher: Publisher, _ notes: Notebook, _ verdict: inout Verdict
    ) async throws {
        let watched = try await WatchedCache(in: play.container, notes: notes, isBroken: false)
        let statistics = try await watched.statistics()
        let done = notes.present
        // A call of each task that was under way at a kill may have been done, and not told of.
        let unsaid = play.history.kills * 16
        let lost = play.history.lost
        for (name, said, act) in [
            ("stores", statistics.stores, "stored"),
            ("misses", statistics.misses, "missed"), ("promotions", statistics.promotions, "opened"),
            ("refusals", statistics.refusals.values.reduce(0, +), "refused"),
        ] {
            verdict.expect(name, said, counted: done[act], unsaid: unsaid, lost: lost[act] ?? 0)
        }
        verdict.expect(
            "reads", statistics.figures[.read] + statistics.figures[.reopened],
            counted: done["hit"] + done["opened again"], unsaid: unsaid,
            lost: (lost["hit"] ?? 0) + (lost["opened again"] ?? 0))
        verdict.expect("evictions", statistics.evictions, counted: 0)

        let opened = Set(publisher.opened.map { "episode-\($0)" })
        let promoted = try await watched.cache.promotedFiles()
        verdict.expect(
            Set(promoted.map(\.key.string)) == opened && promoted.count == opened.count,
            "counts: the cache says \(promoted.count) were opened where it was \(opened.count)")
        for (key, paths) in play.paths where paths.count != 1 {
            verdict.expect(false, "paths: '\(key)' became \(paths.sorted().joined(separator: " and "))")
        }
        let items = try await watched.cache.items()
        let expected = Set(publisher.episodes.map { "episode-\($0.number)" }).subtracting(opened).union([
            "feed"
        ])
        verdict.expect(
            Set(items.map(\.key.string)) == expected,
            "counts: the cache lists \(items.count) items where there are \(expected.count)")
        verdict.expect("items", Int64(statistics.items), counted: expected.count)
        for episode in publisher.episodes where !publisher.opened.contains(episode.number) {
            let isThere = await watched.read(try episode.key) { $0 == episode.content }
            verdict.expect(isThere, "content: '\(episode.name)' was stored and is missing")
        }
        let disk = try OnDisk(play.container.appending(path: "Library/Caches/PrefetchCache/items"))
        verdict.expect("items on disk", Int64(disk.files), counted: expected.count)
        verdict.expect("charged bytes", statistics.chargedBytes, counted: Int(disk.charged))
        try await watched.close()
        verdict.figure(
            "seed \(seed); \(publisher.episodes.count) episodes; \(rounds) rounds; \(play.history.kills) kills; "
                + "\(done["stored"]) stored, \(done["hit"]) read, \(opened.count) opened")
    }

    /// What the server has sent: each version once, and what a kill interrupted.
    private func judge(_ publisher: Publisher, _ play: FeedPlay, _ verdict: inout Verdict) {
        var sent: [String: Int64] = [:]
        let entries = publisher.requests
        for entry in entries where [200, 206].contains(entry.status) {
            sent[entry.name, default: 0] += entry.sent
        }
        var again: Int64 = 0
        for (name, lengths) in publisher.published {
            let more = (sent[name] ?? 0) - lengths.reduce(0, +)
            again += max(0, more)
            let allowed = Int64(play.history.kills) * min(Self.underWay, lengths.max() ?? 0)
            verdict.expect(
                more <= allowed, "requests: \(more) bytes of \(name) were downloaded more than once")
        }
        let allowed = Int64(play.history.kills * Self.transfers) * Self.underWay
        verdict.expect(again <= allowed, "requests: \(again) bytes were downloaded more than once")
        let errors = entries.filter { ![200, 206, 304, 499].contains($0.status) }
        verdict.expect(errors.isEmpty, "requests: the server answered \(errors.first?.status ?? 0)")
        verdict.figure("\(entries.count) requests, \(sent.values.reduce(0, +)) bytes, \(again) of them again")
    }
}

/// The server's side: nginx, and what is published on it.
final class Publisher {
    private let nginx: Nginx
    private(set) var episodes: [Episode] = []
    /// The lengths of all versions of each file but the feed's.
    private(set) var published: [String: [Int64]] = [:]
    /// Numbers of episodes that were opened.
    private(set) var opened: Set<Int> = []

    /// - Parameter count: The number of episodes at the beginning.
    init(_ count: Int) throws {
        nginx = try Nginx()
        for number in 0..<count { episodes.append(Episode(number: number, version: 1)) }
        for episode in episodes { try publish(episode) }
    }

    /// Where episodes lie: as if the network were a usual one.
    var server: String { nginx.url("", isSlow: true) }
    var requests: [Nginx.Entry] { nginx.stop() }

    private func publish(_ episode: Episode) throws {
        let content = episode.content
        published[episode.name, default: []].append(Int64(content.count))
        try write(content, episode.name, version: episode.version)
    }

    /// nginx makes its entity tags of the length and the second of the last change.
    private func write(_ content: Data, _ name: String, version: Int) throws {
        let new = nginx.files.appending(path: "\(name).new")
        try content.write(to: new)
        let time = Date(timeIntervalSince1970: 1_700_000_000 + TimeInterval(version))
        try FileManager.default.setAttributes([.modificationDate: time], ofItemAtPath: new.path)
        guard rename(new.path, nginx.files.appending(path: name).path) == 0 else {
            throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO)
        }
    }

    /// Changes some episodes, adds some, and says what is to be opened.
    func round(_ number: Int, using generator: inout some RandomNumberGenerator) throws -> FeedRound {
        let before = opened
        if number > 1 {
            for index in episodes.indices where !opened.contains(episodes[index].number) {
                guard Int.random(in: 0..<10, using: &generator) == 0 else { continue }
                episodes[index] = Episode(
                    number: episodes[index].number, version: episodes[index].version + 1)
                try publish(episodes[index])
            }
            for _ in 0..<max(1, episodes.count / 40) {
                episodes.append(Episode(number: episodes.count, version: 1))
                try publish(episodes[episodes.count - 1])
            }
        }
        let feed = FeedText(round: number, episodes: episodes)
        try write(Data(feed.text.utf8), FeedText.name, version: number)
        // Only what was there before: the other process may still be downloading what is new.
        let old = episodes.map(\.number).filter { !opened.contains($0) }.dropLast(
            number > 1 ? episodes.count / 40 + 1 : 0)
        let toOpen =
            number == 1 ? [] : Array(old.shuffled(using: &generator).prefix(max(2, episodes.count / 20)))
        opened.formUnion(toOpen)
        return FeedRound(number: number, toOpen: toOpen, openedBefore: before.sorted())
    }
}
