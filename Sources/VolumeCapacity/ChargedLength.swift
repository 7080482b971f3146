/// The charge of a stored file against the budget.
public struct ChargedLength: Sendable, Hashable {
    /// The bytes that the file system keeps beside the content of a file: its inode and its name. 512 is
    /// twice ext4's default inode of 256 bytes, and leaves room for the entry in the folder.
    public static let overhead: Int64 = 512

    /// The volume's unit of allocation, in bytes.
    public let blockSize: Int64

    /// Creates a charge for files on a volume.
    ///
    /// - Parameter blockSize: The volume's unit of allocation, in bytes; 0 or less, or an absurd size over
    ///   1 MiB, counts as 4 KiB.
    public init(blockSize: Int64) {
        self.blockSize = (1...(1 << 20)).contains(blockSize) ? blockSize : 4096
    }

    /// Returns `storedLength` rounded up to whole blocks, plus ``overhead``. Saturates instead of
    /// overflowing.
    public func callAsFunction(storedLength: Int64) -> Int64 {
        guard storedLength < .max - blockSize - Self.overhead else { return .max }
        return (storedLength + blockSize - 1) / blockSize * blockSize + Self.overhead
    }
}
