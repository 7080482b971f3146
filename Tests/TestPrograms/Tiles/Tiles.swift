internal import ArgumentParser
internal import Foundation
internal import PrefetchCaching
internal import Synchronization

struct Tiles: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract:
            "Stores the tiles of a map with eight tasks, is killed in the middle, goes on, and evicts half.")

    /// Threads that wait for work at the end: the pool's and the watchers.
    static let idleThreads = 12
    /// Eight tasks, whatever they wait for, and the threads that the system's pool keeps for a few seconds.
    private static let threads = 128
    private static let descriptors = 128
    /// In seconds. Evicting half of the tiles at once, and writing what is left at the end, take longer.
    private static let limits = [
        "read": 1.0, "read beside rendering": 1, "launch": 1, "first statistics": 2, "first store": 2,
        "evict": 60, "others": 10,
    ]

    @OptionGroup var options: ProgramOptions
    @Option(help: "How many tiles.")
    var tiles: Int?
    @Option(help: "How many tasks store.")
    var tasks = 8

    private var count: Int { tiles ?? (options.quick ? 10_000 : 200_000) }

    func run() async throws {
        var verdict = Verdict("tiles")
        if options.folder == nil, Scratch.obstacle == nil { try Scratch.runOnVolume(ofLength: 16 << 30) }
        try await Scratch.with(in: options.folder) { folder in
            let notes = Notebook(isChild: false)
            let history = History()
            let stored = TileCount(tasks: tasks)
            try await storeAndKill(folder, notes, history, stored)
            verdict.figure("killed after \(notes.present["stored"]) of \(count) tiles")
            try await storeTheRest(folder, notes, history, stored)
            let vitals = try Vitals(notes, container: folder)
            try await look(folder, notes, history, &verdict)
            try await vitals.end(idleThreads: Self.idleThreads)
            verdict.judge(
                notes.present, limits: Self.limits, threads: Self.threads, descriptors: Self.descriptors)
        }
        try verdict.end()
    }

    private func worker(
        _ folder: URL, _ notes: Notebook, _ history: History, _ stored: TileCount, isBroken: Bool = false
    ) throws -> Child {
        let counts = stored.stored.map(String.init).joined(separator: ",")
        var arguments = [
            "tile-worker", "--container", folder.path, "--tiles", "\(count)", "--stored", counts,
        ]
        if isBroken { arguments.append("--broken") }
        return try Child(arguments) { note in
            notes.add(note)
            history.add(note, by: 0)
            stored.add(note)
        }
    }

    private func storeAndKill(
        _ folder: URL, _ notes: Notebook, _ history: History, _ stored: TileCount
    ) async throws {
        let worker = try worker(folder, notes, history, stored)
        await stored.reaches(count / 2)
        worker.kill()
        let time = ContinuousClock.now
        if await worker.end() != nil { notes.fault("end: the process to be killed ended by itself") }
        history.killed(0, at: time)
    }

    private func storeTheRest(
        _ folder: URL, _ notes: Notebook, _ history: History, _ stored: TileCount
    ) async throws {
        let worker = try worker(folder, notes, history, stored, isBroken: options.broken)
        if await worker.end() != 0 { notes.fault("end: the second process did not end well") }
    }

    /// What a third process finds.
    private func look(
        _ folder: URL, _ notes: Notebook, _ history: History, _ verdict: inout Verdict
    ) async throws {
        let watched = try await WatchedCache(in: folder, notes: notes, isBroken: false)
        try await compare(watched, folder, history, &verdict)
        try await readBesideRendering(watched)
        try await readAll(watched, &verdict)
        try await evictHalf(watched, folder, &verdict)
        try await watched.close()
    }

    private func compare(
        _ watched: WatchedCache, _ folder: URL, _ history: History, _ verdict: inout Verdict
    ) async throws {
        let statistics = try await watched.statistics()
        let done = watched.notes.present
        let lost = history.lost
        verdict.expect("items", Int64(statistics.items), counted: count)
        verdict.expect(
            "stores", statistics.stores, counted: done["stored"], unsaid: tasks, lost: lost["stored"] ?? 0)
        verdict.expect("hits", statistics.hits, counted: done["hit"], unsaid: 1, lost: lost["hit"] ?? 0)
        verdict.expect("misses", statistics.misses, counted: done["missed"])
        verdict.expect("evictions", statistics.evictions, counted: 0)
        verdict.expect("refusals", statistics.refusals.values.reduce(0, +), counted: done["refused"])
        try expectOnDisk(statistics, folder, &verdict)
    }

    /// What lies on the disk, looked at from outside, is what the cache says.
    private func expectOnDisk(_ statistics: CacheStatistics, _ folder: URL, _ verdict: inout Verdict) throws {
        let items = try OnDisk(folder.appending(path: "Library/Caches/PrefetchCache/items"))
        verdict.expect("items on disk", Int64(statistics.items), counted: items.files)
        verdict.expect("stored bytes", statistics.storedBytes, counted: Int(items.bytes))
        verdict.expect("charged bytes", statistics.chargedBytes, counted: Int(items.charged))
    }

    /// As many tasks as there are processors compute, and prefer the executor of the cache, as they may. Another one wants
    /// to see tiles meanwhile.
    private func readBesideRendering(_ watched: WatchedCache) async throws {
        let end = ContinuousClock.now + .seconds(3)
        let rendering = (0..<ProcessInfo.processInfo.activeProcessorCount).map { _ in
            Task(executorPreference: watched.cache.executor) { while ContinuousClock.now < end {} }
        }
        var reads = 0
        while ContinuousClock.now < end {
            let tile = Tile(number: Int.random(in: 0..<count))
            try await watched.read(tile.key, call: "read beside rendering") { $0 == tile.content }
            reads += 1
            try await Task.sleep(for: .milliseconds(2))
        }
        for task in rendering { await task.value }
        if reads < 30 { watched.notes.fault("times: only \(reads) reads in 3 s beside rendering") }
    }

    /// All tiles, at full speed, and another task beside it that sleeps, stores and asks.
    private func readAll(_ watched: WatchedCache, _ verdict: inout Verdict) async throws {
        let before = try await watched.statistics().hits
        let bystander = Task.detached { try await Bystander(watched).run() }
        try await withThrowingTaskGroup { [count, tasks] group in
            for task in 0..<tasks {
                group.addTask {
                    for number in stride(from: task, to: count, by: tasks) {
                        let tile = Tile(number: number)
                        if try await !watched.read(tile.key, isRight: { $0 == tile.content }) {
                            watched.notes.fault("content: tile \(number) was stored and is missing")
                        }
                    }
                }
            }
            try await group.waitForAll()
        }
        bystander.cancel()
        try await bystander.value.judge(&verdict, plain: watched.notes.present.slowest[Vitals.plainRead] ?? 0)
        let hits = try await watched.statistics().hits - before
        if hits != Int64(count) {
            watched.notes.fault("counts: the cache says \(hits) hits where \(count) were read")
        }
    }

    private func evictHalf(_ watched: WatchedCache, _ folder: URL, _ verdict: inout Verdict) async throws {
        let before = try await watched.statistics()
        // What is read meanwhile may be gone.
        let reading = Task.detached { [count] in
            while !Task.isCancelled {
                let tile = Tile(number: Int.random(in: 0..<count))
                do {
                    try await watched.read(tile.key) { $0 == tile.content }
                    try await Task.sleep(for: .milliseconds(2))
                } catch {
                    return
                }
            }
        }
        let freed = try await watched.timed("evict") { () async throws(CacheError) in
            try await watched.cache.evict(.bytes(before.chargedBytes / 2)).bytes
        }
        reading.cancel()
        await reading.value
        let after = try await watched.statistics()
        let gone = before.items - after.items
        verdict.expect("evictions", after.evictions - before.evictions, counted: gone)
        verdict.expect("evicted bytes", after.evictedBytes - before.evictedBytes, counted: Int(freed))
        verdict.expect("charged bytes", before.chargedBytes - after.chargedBytes, counted: Int(freed))
        verdict.expect("listed items", Int64(after.items), counted: try await watched.cache.items().count)
        verdict.expect(freed >= before.chargedBytes / 2, "counts: only \(freed) bytes were evicted")
        try expectOnDisk(after, folder, &verdict)
        verdict.figure("\(gone) evicted")
    }
}

/// How far the storing processes have said to be.
final class TileCount: Sendable {
    private struct State {
        /// Of each task.
        var stored: [Int]
        var goal = Int.max
        var waiting: CheckedContinuation<Void, Never>?
    }

    private let state: Mutex<State>

    init(tasks: Int) {
        state = Mutex(State(stored: Array(repeating: 0, count: tasks)))
    }

    var stored: [Int] { state.withLock { $0.stored } }

    func add(_ note: Note) {
        guard case .did("stored", let key, _) = note, let number = Tile.number(of: key) else { return }
        let waiting = state.withLock { state -> CheckedContinuation<Void, Never>? in
            state.stored[number % state.stored.count] += 1
            return state.stored.reduce(0, +) >= state.goal ? state.waiting.take() : nil
        }
        waiting?.resume()
    }

    /// Waits until so many are stored.
    func reaches(_ goal: Int) async {
        await withCheckedContinuation { continuation in
            let isReached = state.withLock { state in
                if state.stored.reduce(0, +) >= goal { return true }
                state.goal = goal
                state.waiting = continuation
                return false
            }
            if isReached { continuation.resume() }
        }
    }
}
