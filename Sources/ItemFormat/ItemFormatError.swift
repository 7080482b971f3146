public import FileSystem

/// Why an item could not be written or read.
public enum ItemFormatError: Error, Hashable, Sendable {
    /// The file is empty or too short to be an item: the system purged it, or power failed.
    case purged
    /// The file is not what was written.
    case damaged(Damage)
    /// The file was written by a newer version of the format; it is left alone.
    case newerVersion(UInt16)
    /// The content is longer than ``ItemLimits/contentLength``.
    case contentTooLong
    case metadataTooLong(field: String, bytes: Int, limit: Int)
    /// A text with a NUL character in it.
    case metadataContainsNUL(field: String)
    /// The caller of the writer refused the space that the next bytes need.
    case notAdmitted
    /// A priority outside 0…1.
    case priorityOutOfRange(Float)
    /// A range that does not lie within the content.
    case rangeOutOfBounds(Range<Int64>, contentLength: Int64)
    case fileSystem(FileSystemError)

    /// The part of an item that did not hold.
    public enum Damage: String, Hashable, Sendable {
        case trailer
        case footerChecksum = "footer checksum"
        case footerFields = "footer fields"
        case chunkTable = "chunk table"
        case chunkContent = "chunk content"
        case key
        /// Of the journal beside a kept partial.
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
        case .contentTooLong: "the content is longer than \(ItemLimits.contentLength) bytes"
        case .metadataTooLong(let field, let bytes, let limit):
            "the \(field) has \(bytes) bytes; at most \(limit) are allowed"
        case .metadataContainsNUL(let field): "the \(field) contains a NUL character"
        case .notAdmitted: "there is no room for the item"
        case .priorityOutOfRange(let priority): "the priority \(priority) is not between 0 and 1"
        case .rangeOutOfBounds(let range, let contentLength):
            "the range \(range) is not within the \(contentLength) bytes of the item"
        case .fileSystem(let error): error.description
        }
    }
}

/// Runs a body that touches files, and wraps its errors.
@inline(__always)
func onFiles<Result>(_ body: () throws(FileSystemError) -> Result) throws(ItemFormatError) -> Result {
    do {
        return try body()
    } catch {
        throw .fileSystem(error)
    }
}
