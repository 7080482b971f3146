internal import FileSystem
internal import ItemFormat

extension Promoter {
    /// What came of a key that was opened together with others.
    enum JointOutcome {
        case settled(Result<Lookup<OpenedItem>, CacheError>)
        /// It has to be opened by itself. Until then the item is leased, so that it does not make way for the others.
        case alone(leasing: Descriptor?)
    }

    /// Opens several keys with one set of flushes, as far as they are first opens.
    ///
    /// - Parameter keys: At most ``JointPromotion/most``.
    /// - Returns: The outcome for each key, in the order of the keys.
    func openTogether(
        _ keys: [ItemKey], for watcher: OpenWatcher
    ) -> [JointOutcome] {
        guard keys.count > 1 else { return keys.map { _ in .alone(leasing: nil) } }
        do {
            return try locks.hold(keys.map(\.hash)) { JointPromotion(self, keys, for: watcher).run() }
        } catch {
            // Possibly the lock of one key only, whose own open will report the error.
            return keys.map { .alone(leasing: lease($0)) }
        }
    }

    /// - Returns: `nil` for an item that cannot be leased: it may make way, which is a miss.
    private func lease(_ key: ItemKey) -> Descriptor? {
        do {
            return try folders.openItem(key.hash)
        } catch {
            return nil
        }
    }
}
