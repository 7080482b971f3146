/// One call on a file system, as a test sees it. Descriptors are shown by the path they were opened
/// under, as far as that is known.
package struct Operation: Sendable, Hashable, CustomStringConvertible {
    package enum Kind: String, Sendable, Hashable, CaseIterable {
        case open, read, write, access, resize, hole, synchronize, attributes, makeDirectory, rename
        case unlink, removeDirectory, entries, lock, allocate, setPermissions, extendedAttribute, noDump,
            volume,
            synchronizeVolume, setAccessTime, commit, clone

        /// Whether the call can change what is on disk.
        package var isChange: Bool {
            switch self {
            case .read, .access, .hole, .attributes, .entries, .lock, .extendedAttribute, .volume,
                .synchronizeVolume:
                false
            default: true
            }
        }
    }

    package var kind: Kind
    /// The name that the call is about, or the one that its descriptor was opened under.
    package var name: String
    /// The new name of a rename.
    package var newName: String?
    package var offset: Int64 = 0
    /// Bytes wanted or given.
    package var count = 0
    /// Whether an `open` makes the file when there is none.
    package var isCreating = false
    /// Where it happens, as far as the descriptors of its folders were opened by absolute paths; of a rename
    /// where the file comes from …
    package var path: String?
    /// … and where it goes to.
    package var newPath: String?

    /// Whether this very call can change what is on disk.
    package var isChange: Bool { kind == .open ? isCreating : kind.isChange }

    package var description: String {
        newName.map { "\(kind) \(name) → \($0)" } ?? "\(kind) \(name)"
    }
}
