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

    /// Ends the store, and keeps the whole chunks of an item that was begun with `keepingPartial`.
    ///
    /// - Returns: The partial; `nil` when there is nothing to keep, and the item was cancelled.
    func suspend() throws(CacheError) -> ResumablePartial?

    /// Ends the store without reporting: what can be kept is kept.
    func suspendOrCancel()
}

extension StoreUnderWay {
    func suspend() throws(CacheError) -> ResumablePartial? {
        cancel()
        return nil
    }

    func suspendOrCancel() { cancel() }
}

/// An item that is stored piece by piece by a caller outside the cache, who may drop it at any moment, while
/// the cache may be closed at any moment.
///
/// May be used by several threads. When it is dropped, it keeps what can be kept and discards the rest.
final class UnfinishedStore: StoreUnderWay, Sendable {
    private let entry: UnfinishedStores.Entry

    fileprivate init(_ entry: UnfinishedStores.Entry) {
        self.entry = entry
    }

    deinit {
        suspendOrCancel()
    }

    /// Whether the store has not ended yet.
    var isUnderWay: Bool { entry.isUnderWay }

    /// - Throws: ``CacheError/writerIsFinished``, ``CacheError/closed``, and whatever the store throws.
    func append(_ bytes: UnsafeRawBufferPointer) throws(CacheError) -> Refusal? {
        try entry.use { store throws(CacheError) in
            let refusal = try store.append(bytes)
            return (refusal, isOver: refusal != nil)
        }
    }

    func commit(appending last: UnsafeRawBufferPointer) throws(CacheError) -> StoreOutcome {
        try entry.use { store throws(CacheError) in (try store.commit(appending: last), isOver: true) }
    }

    func cancel() {
        entry.end(.finished) { $0.cancel() }
    }

    func suspendOrCancel() {
        entry.end(.finished) { $0.suspendOrCancel() }
    }

    func suspend() throws(CacheError) -> ResumablePartial? {
        try entry.use { store throws(CacheError) in (try store.suspend(), isOver: true) }
    }

    /// The length after the last call that returned. Does not wait for a call under way.
    var contentBytes: Int64 { entry.contentBytes }

    /// As ``cancel()``, but throws when the store has ended already.
    func giveUp() throws(CacheError) {
        try entry.use { store throws(CacheError) in (store.cancel(), isOver: true) }
    }
}

/// The stores under way, so that closing the cache can end them: their share of the budget is released only when their
/// partials are gone.
final class UnfinishedStores: Sendable {
    private struct State: Sendable {
        var isClosed = false
        var lastNumber = 0
        var entries: [Int: Entry] = [:]
    }

    private let state = Mutex(State())

    /// - Throws: ``CacheError/closed``; the store is ended then.
    func add(_ store: sending any StoreUnderWay) throws(CacheError) -> UnfinishedStore {
        let number = state.withLock { state in
            state.lastNumber += 1
            return state.lastNumber
        }
        let entry = Entry(number, store, of: self)
        let isOpen = state.withLock { state in
            if !state.isClosed { state.entries[entry.number] = entry }
            return !state.isClosed
        }
        guard isOpen else {
            entry.end(.closed) { $0.suspendOrCancel() }
            throw .closed
        }
        return UnfinishedStore(entry)
    }

    /// Ends all stores and accepts no new ones. Waits for calls under way.
    func close() {
        let entries = state.withLock { state in
            state.isClosed = true
            return Array(state.entries.values)
        }
        for entry in entries { entry.end(.closed) { $0.suspendOrCancel() } }
    }

    private func remove(_ number: Int) {
        _ = state.withLock { $0.entries.removeValue(forKey: number) }
    }

    /// One store, shared by its user and by the closing of the cache.
    fileprivate final class Entry: Sendable {
        enum End: Sendable {
            case finished, closed

            var error: CacheError {
                switch self {
                case .finished: .writerIsFinished
                case .closed: .closed
                }
            }
        }

        private enum State {
            case underWay(any StoreUnderWay)
            case over(End)
        }

        let number: Int
        private let stores: UnfinishedStores
        private let state: Mutex<State>
        private let length: Atomic<Int64>

        init(_ number: Int, _ store: sending any StoreUnderWay, of stores: UnfinishedStores) {
            self.number = number
            self.stores = stores
            length = Atomic(store.contentBytes)
            state = Mutex(.underWay(store))
        }

        var contentBytes: Int64 { length.load(ordering: .relaxed) }

        var isUnderWay: Bool {
            state.withLock { state in
                if case .underWay = state { true } else { false }
            }
        }

        /// - Parameter body: Returns its result, and whether the store is over. After an error it always is.
        func use<Result: Sendable>(
            _ body: (any StoreUnderWay) throws(CacheError) -> (Result, isOver: Bool)
        ) throws(CacheError) -> Result {
            try state.withLock { state throws(CacheError) in
                switch state {
                case .over(let end): throw end.error
                case .underWay(let store):
                    do throws(CacheError) {
                        let (result, isOver) = try body(store)
                        length.store(store.contentBytes, ordering: .relaxed)
                        if isOver { finish(&state, .finished) }
                        return result
                    } catch {
                        finish(&state, .finished)
                        throw error
                    }
                }
            }
        }

        func end(_ end: End, by ending: (any StoreUnderWay) -> Void) {
            state.withLock { state in
                guard case .underWay(let store) = state else { return }
                ending(store)
                finish(&state, end)
            }
        }

        private func finish(_ state: inout State, _ end: End) {
            state = .over(end)
            stores.remove(number)
        }
    }
}
