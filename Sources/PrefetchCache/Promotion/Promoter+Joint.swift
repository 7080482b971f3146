internal import FileSystem
internal import ItemFormat

extension Promoter {
    /// Opens several keys with one set of flushes, as far as they are first opens.
    ///
    /// - Parameter keys: At most ``JointPromotion/most``.
    /// - Returns: The result for each key, in the order of the keys; `nil` for a key that has to be opened by
    ///   itself.
    func openTogether(
        _ keys: [ItemKey], for watcher: OpenWatcher
    ) -> [Result<Lookup<OpenedItem>, CacheError>?] {
        let alone: [Result<Lookup<OpenedItem>, CacheError>?] = keys.map { _ in nil }
        guard keys.count > 1 else { return alone }
        let held: [Descriptor]
        do {
            held = try locks.take(keys.map(\.hash))
        } catch {
            // Possibly the lock of one key only, whose own open will report the error.
            return alone
        }
        defer { for file in held { fileSystem.unlock(file) } }
        return JointPromotion(self, keys, for: watcher).run()
    }
}
