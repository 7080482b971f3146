public import PrefetchFileSystem

/// Why an item could not be written or read.
public enum ItemFormatError: Error, Hashable, Sendable {
    /// The file is too short to be an item or lacks part of its content, after a purge by the system or a power failure.
    case purged
    /// The file differs from what was written.
    case damaged(Damage)
    /// The file has a newer version of the format. It is left unchanged.
    case newerVersion(UInt16)
    /// The content is longer than ``ItemLimits/contentBytes``.
    case contentTooLong
    /// A field of the metadata is longer than its limit, in bytes.
    case metadataTooLong(field: String, bytes: Int, limit: Int)
    /// A text field of the metadata contains a NUL character.
    case metadataContainsNUL(field: String)
    /// A user-requested item has no destination.
    case destinationMissing
    /// The priority is outside 0…1.
    case priorityOutOfRange(Float)
    /// The URL is not one of `http` or `https`, names no host, or contains a user or a password.
    case unsuitableURL
    /// The files of a bundle cannot be opened together as a folder.
    case bundle(BundleError)
    /// The content is not as long as the files of the bundle together.
    case contentDiffersFromParts(contentBytes: Int64, partsBytes: Int64)
    /// The range is not within the content.
    case rangeOutOfBounds(Range<Int64>, contentBytes: Int64)
    /// A system call failed.
    case fileSystem(FileSystemError)

    /// The part of an item that failed a check.
    public enum Damage: String, Hashable, Sendable {
        /// The last 32 bytes of the file.
        case trailer
        /// The checksum of the footer.
        case footerChecksum = "footer checksum"
        /// A field of the footer.
        case footerFields = "footer fields"
        /// The table of chunks in the footer.
        case chunkTable = "chunk table"
        /// The content of a chunk.
        case chunkContent = "chunk content"
        /// The key, which differs from the requested one.
        case key
        /// The journal of a partial.
        case journal
    }
}

extension ItemFormatError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .purged: "the item was purged"
        case .damaged(let damage): "the item is damaged (\(damage.rawValue))"
        case .newerVersion(let version):
            "the item has format version \(version), which is newer than \(ItemFooter.version); update the software"
        case .contentTooLong: "the content is longer than \(ItemLimits.contentBytes) bytes"
        case .metadataTooLong(let field, let bytes, let limit):
            "the \(field) has \(bytes) bytes; at most \(limit) are allowed"
        case .metadataContainsNUL(let field): "the \(field) contains a NUL character"
        case .destinationMissing: "a user-requested item needs a destination; specify one"
        case .priorityOutOfRange(let priority): "the priority \(priority) is not between 0 and 1"
        case .unsuitableURL: "an item's URL needs http or https and a host, and may have no user or password"
        case .bundle(let error): error.description
        case .contentDiffersFromParts(let contentBytes, let partsBytes):
            "the content has \(contentBytes) bytes, but the files of the bundle have \(partsBytes)"
        case .rangeOutOfBounds(let range, let contentBytes):
            "the range \(range) is not within the \(contentBytes) bytes of the item"
        case .fileSystem(let error): error.description
        }
    }
}

/// Evaluates file system calls, wrapping their errors.
@inline(__always)
func onFiles<Result>(_ calls: @autoclosure () throws(FileSystemError) -> Result) throws(ItemFormatError)
    -> Result
{
    do {
        return try calls()
    } catch {
        throw .fileSystem(error)
    }
}
