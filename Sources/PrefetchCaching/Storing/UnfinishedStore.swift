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
    private let entry: UnfinishedStores.Entry

    fileprivate init(_ entry: UnfinishedStores.Entry) {
        self.entry = entry
    }

    deinit {
        suspendOrCancel()
    }

    /// Why the store has ended; `nil` while it is under way, or in use by another thread, for which it does not wait.
    var end: CacheError? { entry.end }

    /// - Throws: ``CacheError/writerIsFinished``, ``CacheError/closed``, ``CacheError/suspended``, and whatever the
    ///   store throws.
    func append(_ bytes: UnsafeRawBufferPointer) throws(CacheError) -> Refusal? {
        try entry.use { store throws(CacheError) in try store.append(bytes) }
    }

    func commit(appending last: UnsafeRawBufferPointer) throws(CacheError) -> StoreOutcome {
        try entry.use { store throws(CacheError) in try store.commit(appending: last) }
    }

    func suspend() throws(CacheError) -> ResumablePartial? {
        try entry.use { store throws(CacheError) in try store.suspend() }
    }

    /// - Throws: As ``append(_:)``.
    func cancel() throws(CacheError) {
        try entry.use { store in store.cancel() }
    }

    func suspendOrCancel() {
        entry.end(.writerIsFinished)
    }

    /// The length after the last call that returned. Does not wait for a call under way.
    var contentBytes: Int64 { entry.contentBytes }
}

/// The stores under way, so that closing or suspending the cache can end them: their share of the budget is released only when their
/// partials are gone.
final class UnfinishedStores: Sendable {
    private struct State: Sendable {
        var isClosed = false
        var entries: [ObjectIdentifier: Entry] = [:]
    }

    private let state = UnfairMutex(State())

    /// - Throws: ``CacheError/closed``; the store is ended then.
    func add(_ store: sending any StoreUnderWay) throws(CacheError) -> UnfinishedStore {
        let entry = Entry(store, of: self)
        let isOpen = state.withLock { state in
            if !state.isClosed { state.entries[ObjectIdentifier(entry)] = entry }
            return !state.isClosed
        }
        guard isOpen else {
            entry.end(.closed)
            throw .closed
        }
        return UnfinishedStore(entry)
    }

    /// Ends all stores and accepts no new ones. Waits for calls under way.
    ///
    /// - Parameter reason: What later calls of the stores throw.
    func close(because reason: CacheError) {
        let entries = state.withLock { state in
            state.isClosed = true
            return Array(state.entries.values)
        }
        for entry in entries { entry.end(reason) }
    }

    private func remove(_ entry: Entry) {
        _ = state.withLock { $0.entries.removeValue(forKey: ObjectIdentifier(entry)) }
    }

    /// One store, shared by its user and by the closing of the cache.
    fileprivate final class Entry: Sendable {
        private enum State {
            case underWay(any StoreUnderWay)
            /// With what a later call throws.
            case over(CacheError)
        }

        private let stores: UnfinishedStores
        private let state: Mutex<State>
        private let length: Atomic<Int64>

        init(_ store: sending any StoreUnderWay, of stores: UnfinishedStores) {
            self.stores = stores
            length = Atomic(store.contentBytes)
            state = Mutex(.underWay(store))
        }

        var contentBytes: Int64 { length.load(ordering: .relaxed) }

        var end: CacheError? {
            state.withLockIfAvailable { state in
                if case .over(let error) = state { error } else { nil }
            } ?? nil
        }

        func use<Result: Sendable>(_ body: (any StoreUnderWay) throws(CacheError) -> Result)
            throws(CacheError) -> Result
        {
            try state.withLock { state throws(CacheError) in
                switch state {
                case .over(let error): throw error
                case .underWay(let store):
                    defer {
                        length.store(store.contentBytes, ordering: .relaxed)
                        if store.isFinished { finish(&state, .writerIsFinished) }
                    }
                    return try body(store)
                }
            }
        }

        func end(_ reason: CacheError) {
            state.withLock { state in
                guard case .underWay(let store) = state else { return }
                store.suspendOrCancel()
                finish(&state, reason)
            }
        }

        private func finish(_ state: inout State, _ reason: CacheError) {
            state = .over(reason)
            stores.remove(self)
        }
    }
}
