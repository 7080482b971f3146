/// What a stored file counts against the budget.
public struct ChargedLength: Sendable, Hashable {
    /// What the file system keeps beside the content of a file: its inode and its name. 512 bytes is
    /// twice ext4's default inode of 256 bytes, and room for the entry in the folder.
    public static let overhead: Int64 = 512

    /// The volume's unit of allocation, in bytes.
    public let blockSize: Int64

    /// - Parameter blockSize: A volume that reports 0 or less, or an absurd size over 1 MiB, counts
    ///   as one with 4 KiB blocks.
    public init(blockSize: Int64) {
        self.blockSize = (1...(1 << 20)).contains(blockSize) ? blockSize : 4096
    }

    /// `storedLength` rounded up to whole blocks, plus ``overhead``. Saturates instead of
    /// overflowing.
    public func callAsFunction(storedLength: Int64) -> Int64 {
        guard storedLength < .max - blockSize - Self.overhead else { return .max }
        return (storedLength + blockSize - 1) / blockSize * blockSize + Self.overhead
    }
}
