internal import ArgumentParser
internal import Foundation
internal import PrefetchCaching
internal import Synchronization

/// The process that stores, which is killed in the middle.
struct TileWorker: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "tile-worker", abstract: "Stores tiles, for 'tiles'.", shouldDisplay: false)

    @Option var container: String
    @Option var tiles: Int
    @Option(help: "How many tiles each task has stored before, with commas between.")
    var stored: String
    @Flag var broken = false

    func run() async throws {
        let notes = Notebook(isChild: true)
        _ = Parent.lines()
        let container = URL(filePath: container, directoryHint: .isDirectory)
        let vitals = try Vitals(notes, container: container)
        try await store(in: container, notes)
        try await vitals.end(idleThreads: Tiles.idleThreads)
    }

    private func store(in container: URL, _ notes: Notebook) async throws {
        let watched = try await WatchedCache(in: container, notes: notes, isBroken: broken)
        let progress = TileProgress(stored.split(separator: ",").compactMap { Int($0) })
        let isFresh = progress.total == 0
        let reading = Task.detached { await TileReader(watched, progress).run() }
        if isFresh {
            try await watched.timed("configure") { () async throws(CacheError) in
                _ = try await watched.cache.configure { $0.budget = .fixed(.gibibytes(8)) }
            }
        }
        // After a launch everything begins at once.
        let overview = Task {
            if !isFresh { _ = try await watched.statistics(call: "first statistics") }
        }
        try await withThrowingTaskGroup { [tiles] group in
            for task in 0..<progress.tasks {
                group.addTask {
                    var call = isFresh ? "store" : "first store"
                    while true {
                        let tile = progress.next(of: task)
                        guard tile.number < tiles else { return }
                        await watched.store(tile.content, as: try tile.metadata, call: call)
                        progress.advance(task)
                        call = "store"
                    }
                }
            }
            try await group.waitForAll()
        }
        try await overview.value
        reading.cancel()
        await reading.value
        try await watched.close()
    }
}

/// How many tiles each task has stored. Of `n` tasks, the first has tile 0, `n`, 2 `n` and so on.
final class TileProgress: Sendable {
    private let counts: Mutex<[Int]>
    let tasks: Int

    init(_ counts: [Int]) {
        tasks = counts.count
        self.counts = Mutex(counts)
    }

    var total: Int { counts.withLock { $0.reduce(0, +) } }

    func next(of task: Int) -> Tile { Tile(number: counts.withLock { $0[task] } * tasks + task) }

    func advance(_ task: Int) { counts.withLock { $0[task] += 1 } }

    func randomStored() -> Tile? {
        let task = Int.random(in: 0..<tasks)
        let count = counts.withLock { $0[task] }
        return count == 0 ? nil : Tile(number: Int.random(in: 0..<count) * tasks + task)
    }
}

/// Looks at the map meanwhile: some hundred tiles a second.
struct TileReader {
    private let watched: WatchedCache
    private let progress: TileProgress

    init(_ watched: WatchedCache, _ progress: TileProgress) {
        self.watched = watched
        self.progress = progress
    }

    func run() async {
        while !Task.isCancelled {
            // The pace of a finger.
            do { try await Task.sleep(for: .milliseconds(2)) } catch { return }
            guard let tile = progress.randomStored() else { continue }
            do {
                let isThere = try await watched.read(tile.key) { $0 == tile.content }
                if !isThere { watched.notes.fault("content: tile \(tile.number) was stored and is missing") }
            } catch {
                watched.notes.fault("read: \(error)")
            }
        }
    }
}
