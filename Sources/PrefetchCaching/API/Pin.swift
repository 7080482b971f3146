internal import Logging
internal import PrefetchFileSystem
public import PrefetchItemFormat
internal import Synchronization
internal import SystemPackage

/// Keeps an item from being evicted.
///
/// An item that is being read or opened is never evicted anyway; a pin covers the time in between, such as
/// for the next episodes of a playlist. It lasts until it is released or dropped, and ends with its process:
/// the Caches area can promise no more than that. To keep an item for good, open it.
///
/// While the cache is suspended, see ``PrefetchCache/suspend(isolation:)``, another process may evict the item. If it is
/// still there afterwards, it is pinned again. Closing the cache ends its pins.
///
/// - Note: A pin holds one file open. The last quarter of the files that the process may have open is reserved for
///   everything else, see ``CacheError/tooManyPins(openFiles:)``. The item can still be removed or replaced explicitly.
public final class Pin: Sendable {
    /// The key of the pinned item.
    public let key: ItemKey
    private let cache: PrefetchCache
    private let number: Int

    init(_ key: ItemKey, _ file: Descriptor, of cache: PrefetchCache) {
        self.key = key
        self.cache = cache
        number = cache.engine.pins.add(key, file)
    }

    deinit {
        release()
    }

    /// Lets the item be evicted again. Further calls have no effect.
    public func release() {
        // Closing the last descriptor of a removed file frees its blocks, which takes time.
        cache.lanes.run { [pins = cache.engine.pins, number] in pins.release(number) }
    }
}

extension PrefetchCache {
    /// Keeps an item from being evicted until the pin is released.
    ///
    /// - Returns: `nil` when the item is not cached, or cannot be served.
    /// - Throws: ``CacheError/tooManyPins(openFiles:)`` when too many files are open for a further pin.
    public func pin(_ key: ItemKey) async throws(CacheError) -> Pin? {
        let cache = self
        return try await run(in: .reads) { engine throws(CacheError) in
            try engine.openPinned(key).map { Pin(key, $0, of: cache) }
        }
    }
}

/// The open files of pinned items, which are closed while the cache is suspended.
///
/// They are opened and closed while the mutex is held, so that none is left open after ``letGo()``: only for threads
/// that may block.
final class Pins: Sendable {
    private struct State: Sendable {
        var files: [Int: (key: ItemKey, file: Descriptor?)] = [:]
        var lastNumber = 0
    }

    private let environment: CacheEnvironment
    private let state = Mutex(State())

    init(_ environment: CacheEnvironment) {
        self.environment = environment
    }

    func add(_ key: ItemKey, _ file: Descriptor) -> Int {
        state.withLock { state in
            state.lastNumber += 1
            state.files[state.lastNumber] = (key, file)
            return state.lastNumber
        }
    }

    func release(_ number: Int) {
        state.withLock { state in
            if let file = state.files.removeValue(forKey: number)?.file { environment.fileSystem.close(file) }
        }
    }

    func letGo() {
        state.withLock { state in
            for (number, pin) in state.files {
                if let file = pin.file { environment.fileSystem.close(file) }
                state.files[number] = (pin.key, nil)
            }
        }
    }

    /// Pins again what is still there.
    func takeAgain(in engine: Engine) {
        state.withLock { state in
            for (number, pin) in state.files {
                do {
                    state.files[number] = (pin.key, try engine.openPinned(pin.key))
                } catch {
                    environment.logger.warning(
                        "An item is no longer pinned.", metadata: ["error": "\(error)"])
                }
            }
        }
    }
}

extension Engine {
    /// Opens an item's file to keep the item from being evicted, if the item can be served.
    fileprivate func openPinned(_ key: ItemKey) throws(CacheError) -> Descriptor? {
        let fileSystem = environment.fileSystem
        let limit = fileSystem.descriptorLimit
        let opened: Descriptor?
        do {
            opened = try folders.openItemToStay(key.hash)
        } catch {
            guard case .fileSystem(let reason) = error, reason.errno == .tooManyOpenFiles else { throw error }
            throw .tooManyPins(openFiles: limit)
        }
        guard let file = opened else { return nil }
        do throws(CacheError) {
            // The system allocates the lowest free descriptor.
            guard file.rawValue < limit - limit / 4 else { throw .tooManyPins(openFiles: limit) }
            if try canServe(key, from: file) { return file }
        } catch {
            fileSystem.close(file)
            throw error
        }
        fileSystem.close(file)
        return nil
    }
}
