internal import Foundation
internal import PrefetchCaching
internal import Synchronization

/// A cache of which every call is timed and every outcome counted, and every content judged.
final class WatchedCache: Sendable {
    let cache: PrefetchCache
    let notes: Notebook
    private let container: URL
    /// What this process has done with the cache, which the events are held against.
    private let acts = Mutex<[String: Int]>([:])
    private let events = EventCount()
    private let listening: Task<Void, Never>
    /// What is still to be done wrongly on purpose.
    private let mistakes: Mutex<Set<Mistake>>

    private enum Mistake: CaseIterable { case count, content, descriptor, time }

    init(in container: URL, notes: Notebook, isBroken: Bool) async throws {
        self.container = container
        self.notes = notes
        mistakes = Mutex(isBroken ? Set(Mistake.allCases) : [])
        let start = ContinuousClock.now
        cache = try await PrefetchCache(areas: .container(at: container))
        notes.took(start.duration(to: .now), "launch")
        let stream = cache.events
        let events = events
        listening = Task.detached { for await event in stream { events.add(event) } }
    }

    /// Times a call.
    func timed<Result, Failure: Error>(
        _ call: String, _ body: () async throws(Failure) -> Result
    ) async throws(Failure) -> Result {
        let start = ContinuousClock.now
        defer { notes.took(start.duration(to: .now), call) }
        return try await body()
    }

    /// Counts an act that the cache sends an event for.
    func did(_ act: String, _ key: ItemKey, bytes: Int64 = 0) {
        if act == "stored", errs(.count) { return }
        acts.withLock { $0[act, default: 0] += 1 }
        notes.did(act, key.string, bytes: bytes)
    }

    private func errs(_ mistake: Mistake) -> Bool {
        mistakes.withLock { $0.remove(mistake) != nil }
    }

    /// - Returns: What came of it; `nil` when it failed, which is noted.
    @discardableResult
    func store(_ content: Data, as metadata: ItemMetadata, call: String = "store") async -> StoreOutcome? {
        do {
            let outcome = try await timed(call) { () async throws(CacheError) in
                try await cache.store(content, as: metadata)
            }
            note(outcome, of: metadata.key)
            return outcome
        } catch {
            notes.fault("store: \(metadata.key): \(error)")
            return nil
        }
    }

    func note(_ outcome: StoreOutcome, of key: ItemKey) {
        switch outcome {
        case .stored(let summary): did("stored", key, bytes: summary.storedBytes)
        case .delivered(let item): did("opened", key, bytes: item.contentBytes)
        case .refused(let refusal): did("refused", key); notes.did("refused \(refusal.reason)")
        }
    }

    /// Reads an item.
    ///
    /// - Parameter isRight: Judges the content.
    /// - Returns: Whether it was there.
    @discardableResult
    func read(_ key: ItemKey, call: String = "read", isRight: (Data) -> Bool) async -> Bool {
        do {
            let content = try await timed(call) { () async throws(CacheError) in
                let content = try await cache.read(key)
                if errs(.time) { usleep(4_000_000) }
                return content
            }
            guard var content else {
                notes.did("missed", key.string)
                return false
            }
            notes.did("hit", key.string)
            if errs(.content) { content.append(0) }
            if !isRight(content) { notes.fault("content: '\(key)' was not read as it was stored") }
            return true
        } catch {
            notes.fault("read: \(key): \(error)")
            return true
        }
    }

    /// Opens an item, and judges its file.
    ///
    /// - Returns: The file; `nil` when there was no item, or an error, which is noted.
    @discardableResult
    func open(_ key: ItemKey, isRight: (Data) -> Bool) async -> PromotedFile? {
        do {
            let opened = try await timed("open") { () async throws(CacheError) in try await cache.open(key) }
            return try note(opened, of: key, isRight: isRight)
        } catch {
            notes.fault("open: \(key): \(error)")
            return nil
        }
    }

    func note(_ opened: PromotedFile?, of key: ItemKey, isRight: (Data) -> Bool) throws -> PromotedFile? {
        guard let opened else {
            notes.did("missed", key.string)
            return nil
        }
        if opened.isFirstOpen {
            did("opened", key, bytes: opened.contentBytes)
        } else {
            notes.did("opened again", key.string)
        }
        let content = try Data(contentsOf: opened.url, options: .alwaysMapped)
        if !isRight(content) { notes.fault("content: '\(key)' was not opened as it was stored") }
        return opened
    }

    func statistics(call: String = "statistics") async throws -> CacheStatistics {
        try await timed(call) { () async throws(CacheError) in try await cache.statistics() }
    }

    /// Closes the cache, and holds what it said by its events against what was done.
    func close() async throws {
        try await timed("close") { () async throws(CacheError) in try await cache.close() }
        await listening.value
        for difference in differences() { notes.fault(difference) }
        for _ in 0..<events["evicted"] { notes.did("evicted") }
        if errs(.descriptor) { _ = Foundation.open(container.path, O_RDONLY) }
    }

    private func differences() -> [String] {
        // A listener that was told to have missed some cannot know.
        if events["eventsLost"] > 0 { return [] }
        let acts = acts.withLock { $0 }
        return [("stored", "stored"), ("promoted", "opened"), ("refused", "refused")].compactMap {
            event, act in
            let (said, did) = (events[event], acts[act] ?? 0)
            // The end of a download that was refused because its key was opened meanwhile.
            let unsaid = event == "refused" ? acts["already promoted"] ?? 0 : 0
            return (did...did + unsaid).contains(said)
                ? nil : "events: \(said) say '\(event)' where \(did) were '\(act)'"
        }
            + ["purged", "quarantined", "newerFormat", "catalogRebuilt"].compactMap { event in
                events[event] == 0 ? nil : "events: \(events[event]) say '\(event)'"
            }
    }
}

/// How many events of each kind there were.
private final class EventCount: Sendable {
    private let counts = Mutex<[String: Int]>([:])

    subscript(_ kind: String) -> Int { counts.withLock { $0[kind] ?? 0 } }

    func add(_ event: CacheEvent) {
        let kind = String("\(event)".prefix { $0 != "(" })
        counts.withLock { $0[kind, default: 0] += 1 }
    }
}
