/// What a file is to the cache.
///
/// Raw values are in what `cachectl inventory --json` prints: a value that was ever used keeps its meaning.
package enum FileKind: String, Sendable, Hashable, CaseIterable, Comparable {
    /// A cached item.
    case item
    /// What is there of an item whose storing is under way or was broken off.
    case partial
    /// The journal beside a partial.
    case journal
    /// A damaged item that was set aside.
    case quarantined
    /// A file that an open handed over, or is about to.
    case promoted
    /// A promotion under way.
    case staged
    case catalog, ledger, configuration, lock
    /// `CACHEDIR.TAG`.
    case tag
    /// A file that the cache did not make.
    case foreign
    /// A symbolic link; what it leads to is not looked at.
    case link
    /// A socket, a pipe or a device.
    case special

    /// In the order of their declaration.
    package static func < (left: FileKind, right: FileKind) -> Bool { left.position < right.position }

    private var position: Int { Self.allCases.firstIndex(of: self) ?? 0 }
}
