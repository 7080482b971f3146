internal import FileSystem
public import ItemFormat
internal import Synchronization

/// Keeps an item from being evicted.
///
/// An item that is being read or opened is never evicted anyway; a pin covers the time in between, such as
/// for the next episodes of a playlist. It lasts until it is released or dropped, and ends with its process:
/// the Caches area can promise no more than that. To keep an item for good, open it.
///
/// - Note: A pin holds one file open. The item can still be removed or replaced explicitly.
public final class Pin: Sendable {
    /// The key of the pinned item.
    public let key: ItemKey
    private let cache: PrefetchCache
    private let file: Mutex<Descriptor?>

    init(_ key: ItemKey, _ file: Descriptor, of cache: PrefetchCache) {
        self.key = key
        self.cache = cache
        self.file = Mutex(file)
    }

    deinit {
        release()
    }

    /// Lets the item be evicted again. Further calls have no effect.
    public func release() {
        guard let file = file.withLock({ $0.take() }) else { return }
        // Closing the last descriptor of a removed file frees its blocks, which takes time.
        let engine = cache.engine
        cache.lanes.run(after: .zero) { engine.environment.fileSystem.close(file) }
    }
}

extension PrefetchCache {
    /// Keeps an item from being evicted until the pin is released.
    ///
    /// - Returns: `nil` when the item is not cached, or cannot be served.
    /// - Throws: Only what any call may throw, see ``PrefetchCache``.
    public func pin(_ key: ItemKey) async throws(CacheError) -> Pin? {
        let cache = self
        return try await run { engine throws(CacheError) in
            guard let file = try engine.folders.openItemToStay(key.hash) else { return nil }
            do throws(CacheError) {
                if try engine.canServe(key, from: file) { return Pin(key, file, of: cache) }
            } catch {
                engine.environment.fileSystem.close(file)
                throw error
            }
            engine.environment.fileSystem.close(file)
            return nil
        }
    }
}
