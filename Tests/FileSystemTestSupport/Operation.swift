/// One call on a file system, as a test sees it. Descriptors are shown by the path they were opened
/// under, as far as that is known.
public struct Operation: Sendable, Hashable, CustomStringConvertible {
    public enum Kind: String, Sendable, Hashable, CaseIterable {
        case open, read, write, access, resize, synchronize, attributes, makeDirectory, rename, unlink
        case removeDirectory, entries, lock, allocate, setPermissions, extendedAttribute, noDump, volume,
            synchronizeVolume, setAccessTime, commit

        /// Whether the call can change what is on disk.
        public var isChange: Bool {
            switch self {
            case .read, .access, .attributes, .entries, .lock, .extendedAttribute, .volume,
                .synchronizeVolume:
                false
            default: true
            }
        }
    }

    public var kind: Kind
    /// The name that the call is about, or the one that its descriptor was opened under.
    public var name: String
    /// The new name of a rename.
    public var newName: String?
    public var offset: Int64 = 0
    /// Bytes wanted or given.
    public var count = 0
    /// Whether an `open` makes the file when there is none.
    public var isCreating = false
    /// Where it happens, as far as the descriptors of its folders were opened by absolute paths; of a rename
    /// where the file comes from …
    public var path: String?
    /// … and where it goes to.
    public var newPath: String?

    /// Whether this very call can change what is on disk.
    public var isChange: Bool { kind == .open ? isCreating : kind.isChange }

    public var description: String {
        newName.map { "\(kind) \(name) → \($0)" } ?? "\(kind) \(name)"
    }
}
