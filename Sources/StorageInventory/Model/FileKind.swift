/// What a file is to the cache.
///
/// Raw values are printed by `cachectl inventory --json`: a value once used keeps its meaning.
package enum FileKind: String, Sendable, Hashable, CaseIterable, Comparable {
    /// A cached item.
    case item
    /// The bytes of an item whose storing is under way or was interrupted.
    case partial
    /// The journal beside a partial.
    case journal
    /// A damaged item that was set aside.
    case quarantined
    /// A file that was promoted, or is about to be.
    case promoted
    /// A file of a promotion under way.
    case staged
    case catalog, ledger, configuration, lock
    /// `CACHEDIR.TAG`.
    case tag
    /// A file that the cache did not create.
    case foreign
    /// A symbolic link; its target is not looked at.
    case link
    /// A socket, a pipe or a device.
    case special

    /// Compares the positions in the declaration.
    package static func < (left: FileKind, right: FileKind) -> Bool { left.position < right.position }

    private var position: Int { Self.allCases.firstIndex(of: self) ?? 0 }
}
