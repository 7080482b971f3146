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
        do {
            return try locks.hold(keys.map(\.hash)) { JointPromotion(self, keys, for: watcher).run() }
        } catch {
            // Possibly the lock of one key only, whose own open will report the error.
            return alone
        }
    }
}
