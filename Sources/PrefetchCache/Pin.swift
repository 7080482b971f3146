internal import FileSystem
public import ItemFormat
internal import Synchronization

/// Keeps an item from being evicted.
///
/// An item that is being read or opened is kept anyway; a pin is for the time in between, such as the
/// next episodes of a list that is playing. It lasts until it is released or dropped, and dies with its
/// process: a longer promise is none that the Caches area could keep. Open the item to keep it.
///
/// - Note: It holds one file open. The item may still be removed or replaced by name.
public final class Pin: Sendable {
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

    /// Lets go of the item. A second call does nothing.
    public func release() {
        guard let file = file.withLock({ $0.take() }) else { return }
        // Closing the last descriptor of a removed file gives its blocks back, which takes time.
        let engine = cache.engine
        cache.blocking.run(after: .zero) { engine.environment.fileSystem.close(file) }
    }
}

extension PrefetchCache {
    /// Keeps an item from being evicted until the pin is released; `nil` when there is none.
    public func pin(_ key: ItemKey) async throws(CacheError) -> Pin? {
        let cache = self
        return try await run { engine throws(CacheError) in
            try engine.folders.openItemToStay(key.hash).map { Pin(key, $0, of: cache) }
        }
    }
}
