internal import Logging
internal import PrefetchFileSystem
internal import Synchronization

/// An item that is being stored piece by piece.
///
/// Used by one thread at a time.
protocol StoreUnderWay: AnyObject {
    /// Appends content.
    ///
    /// - Returns: Why the item was refused, or `nil`. After an error nothing is kept, and after a refusal
    ///   only what ``suspend()`` would keep.
    func append(_ bytes: UnsafeRawBufferPointer) throws(CacheError) -> Refusal?

    /// Appends the last piece and completes the item.
    func commit(appending last: UnsafeRawBufferPointer) throws(CacheError) -> StoreOutcome

    /// Ends the store and discards its content.
    func cancel()

    /// Bytes of content taken so far.
    var contentBytes: Int64 { get }

    /// Whether the store has ended: by one of these calls, a refusal or an error.
    var isFinished: Bool { get }

    /// Ends the store, and keeps the whole chunks of an item that was begun with `keepingPartial`.
    ///
    /// - Returns: The partial; `nil` when there is nothing to keep, and the item was cancelled.
    func suspend() throws(CacheError) -> ResumablePartial?

    var logger: Logger { get }
}

extension StoreUnderWay {
    /// Ends the store without reporting: what can be kept is kept.
    func suspendOrCancel() {
        guard !isFinished else { return }
        do {
            _ = try suspend()
        } catch {
            logger.warning("A partial could not be kept.", metadata: ["error": "\(error)"])
        }
    }
}

/// An item that is stored piece by piece by a caller outside the cache, who may drop it at any moment, while
/// the cache may be closed at any moment.
///
/// May be used by several threads. When it is dropped, it keeps what can be kept and discards the rest.
final class UnfinishedStore: Sendable {
    private enum State {
        case underWay(any StoreUnderWay)
        /// With what a later call throws.
        case over(CacheError)
    }

    private let state: Mutex<State>
    private let length: Atomic<Int64>

    fileprivate init(_ store: sending any StoreUnderWay) {
        length = Atomic(store.contentBytes)
        state = Mutex(.underWay(store))
    }

    deinit {
        suspendOrCancel()
    }

    /// The length after the last call that returned. Does not wait for a call under way.
    var contentBytes: Int64 { length.load(ordering: .relaxed) }

    /// Why the store has ended; `nil` while it is under way, or in use by another thread, for which it does not wait.
    var end: CacheError? {
        state.withLockIfAvailable { state in
            if case .over(let error) = state { error } else { nil }
        } ?? nil
    }

    /// - Throws: ``CacheError/writerIsFinished``, ``CacheError/closed``, ``CacheError/suspended``, and whatever the
    ///   store throws.
    func append(_ bytes: UnsafeRawBufferPointer) throws(CacheError) -> Refusal? {
        try use { store throws(CacheError) in try store.append(bytes) }
    }

    func commit(appending last: UnsafeRawBufferPointer) throws(CacheError) -> StoreOutcome {
        try use { store throws(CacheError) in try store.commit(appending: last) }
    }

    func suspend() throws(CacheError) -> ResumablePartial? {
        try use { store throws(CacheError) in try store.suspend() }
    }

    /// - Throws: As ``append(_:)``.
    func cancel() throws(CacheError) {
        try use { store in store.cancel() }
    }

    func suspendOrCancel(because reason: CacheError = .writerIsFinished) {
        state.withLock { state in
            guard case .underWay(let store) = state else { return }
            store.suspendOrCancel()
            state = .over(reason)
        }
    }

    private func use<Result: Sendable>(_ body: (any StoreUnderWay) throws(CacheError) -> Result)
        throws(CacheError) -> Result
    {
        try state.withLock { state throws(CacheError) in
            switch state {
            case .over(let error): throw error
            case .underWay(let store):
                defer {
                    length.store(store.contentBytes, ordering: .relaxed)
                    if store.isFinished { state = .over(.writerIsFinished) }
                }
                return try body(store)
            }
        }
    }
}

/// The stores under way, so that closing or suspending the cache can end them: their share of the budget is released only when their
/// partials are gone.
final class UnfinishedStores: Sendable {
    private struct Entry: Sendable {
        weak var store: UnfinishedStore?
    }

    private struct State: Sendable {
        var isClosed = false
        var entries: [Entry] = []
    }

    private let state = UnfairMutex(State())

    /// - Throws: ``CacheError/closed``; the store is ended then.
    func add(_ store: sending any StoreUnderWay) throws(CacheError) -> UnfinishedStore {
        let store = UnfinishedStore(store)
        // Those that are looked at leave the lock: one whose user drops it meanwhile ends with the last reference to it.
        let (isOpen, others) = state.withLock { state in
            let others = state.entries.compactMap(\.store)
            state.entries = others.map(Entry.init)
            if !state.isClosed { state.entries.append(Entry(store: store)) }
            return (!state.isClosed, others)
        }
        defer { withExtendedLifetime(others) {} }
        guard isOpen else {
            store.suspendOrCancel(because: .closed)
            throw .closed
        }
        return store
    }

    /// Ends all stores and accepts no new ones. Waits for calls under way.
    ///
    /// - Parameter reason: What later calls of the stores throw.
    func close(because reason: CacheError) {
        let stores = state.withLock { state in
            state.isClosed = true
            return state.entries.compactMap(\.store)
        }
        for store in stores { store.suspendOrCancel(because: reason) }
    }
}
