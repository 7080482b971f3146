internal import ArgumentParser
internal import Foundation
internal import PrefetchCaching

/// The process that hammers, and may be killed at any moment.
struct HammerWorker: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "hammer-worker", abstract: "Hammers on a cache, for 'hammer'.", shouldDisplay: false)

    /// Of each task, whose alone they are.
    private static let keys = 40

    @Option var container: String
    @Option var seconds: Int
    @Flag var broken = false

    func run() async throws {
        let notes = Notebook(isChild: true)
        _ = Parent.lines()
        let container = URL(filePath: container, directoryHint: .isDirectory)
        let vitals = try Vitals(notes, container: container)
        let watched = try await WatchedCache(in: container, notes: notes, isBroken: broken)
        _ = try await watched.cache.configure { $0.budget = .fixed(.gibibytes(1)) }
        notes.add(.reached("hammering"))
        let end = ContinuousClock.now + .seconds(seconds)
        await withTaskGroup { group in
            for task in 0..<Hammer.tasks {
                group.addTask { await Blows(watched, task).run(until: end) }
            }
        }
        try await watched.close()
        try await vitals.end(idleThreads: Tiles.idleThreads)
    }

    /// What one task does.
    private struct Blows {
        private let watched: WatchedCache
        private let task: Int
        /// Keys that were stored, and not taken away since.
        private var cached: Set<ItemKey> = []

        init(_ watched: WatchedCache, _ task: Int) {
            self.watched = watched
            self.task = task
        }

        consuming func run(until end: ContinuousClock.Instant) async {
            while ContinuousClock.now < end {
                do {
                    try await strike()
                } catch {
                    watched.notes.fault("call: \(error)")
                }
            }
        }

        private static func content(of key: ItemKey) -> Data {
            let line = Data("\(key.string) ".utf8)
            return Data(
                (0..<(key.string.utf8.reduce(7) { $0 &* 31 &+ Int($1) } & 1023) + 1).map { _ in line }
                    .joined())
        }

        private mutating func strike() async throws {
            let number = Int.random(in: 0..<HammerWorker.keys)
            let key = try ItemKey("hammer-\(task)-\(number)")
            let content = Self.content(of: key)
            switch Int.random(in: 0..<100) {
            case ..<40:
                let destination = Destination.documents(
                    try FileName("\(task)-\(number)"), in: try FolderPath("Hammer/\(task)"))
                let outcome = await watched.store(
                    content, as: ItemMetadata(key: key, destination: destination))
                if case .stored = outcome { cached.insert(key) }
            case ..<70:
                let isThere = await watched.read(key) { $0 == content }
                if !isThere, cached.contains(key) { watched.notes.fault("content: '\(key)' is missing") }
            case ..<80:
                cached.remove(key)
                await watched.open(key, orFindDeleted: true) { $0 == content }
            case ..<85:
                // Whether it is opened or not is a matter of luck, but it is one of the two.
                cached.remove(key)
                let watched = watched
                let opening = Task { await watched.openUnlessCancelled(key) { $0 == content } }
                await Task.yield()
                opening.cancel()
                await opening.value
            case ..<95:
                cached.remove(key)
                if try await watched.cache.remove(key) { watched.notes.did("removed", key.string) }
            default:
                if try await watched.cache.deletePromotedFile(key) {
                    watched.notes.did("deleted", key.string)
                }
            }
        }
    }
}

extension WatchedCache {
    /// As ``open(_:isRight:)``, by a task that may be cancelled.
    fileprivate func openUnlessCancelled(_ key: ItemKey, isRight: (Data) -> Bool) async {
        do {
            _ = try note(try await cache.open(key), of: key, isRight: isRight)
        } catch CacheError.cancelled {
            notes.did("cancelled")
        } catch CacheError.movedOrDeleted {
            notes.did("found deleted", key.string)
        } catch {
            notes.fault("open: \(key): \(error)")
        }
    }
}
