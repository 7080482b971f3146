internal import FileSystem
internal import SystemPackage

/// The most of the budget that a process may hold, as its lock file says.
///
/// The catalog has the exact number, but can be lost. The lock file, which shows whether a process lives,
/// always has at least as much: it is written before a grant is committed, and after one was released.
struct WriterBound {
    static let length: Int64 = 16
    /// How often a reader tries again after it has met a writer.
    private static let attempts = 1000

    let bytes: Int64

    init(_ bytes: Int64) {
        self.bytes = bytes
    }

    /// Reads the bound while its process may be writing it.
    init(of file: Descriptor, in fileSystem: any FileSystem) throws(FileSystemError) {
        for _ in 0..<Self.attempts {
            var buffer = [UInt8](repeating: 0, count: Int(Self.length))
            let count = try buffer.withMutableBytes { bytes throws(FileSystemError) in
                try fileSystem.readAll(file, into: bytes, at: 0)
            }
            guard count > 0 else {
                bytes = 0
                return
            }
            let words = buffer.withUnsafeBytes {
                ($0.loadUnaligned(as: Int64.self), $0.loadUnaligned(fromByteOffset: 8, as: Int64.self))
            }
            guard words.0 == ~words.1 else { continue }
            bytes = max(0, Int64(littleEndian: words.0))
            return
        }
        throw FileSystemError("read", errno: .ioError)
    }

    /// Writes the bound and its complement with one call. The complement shows a reader that it has read both
    /// completely.
    func write(to file: Descriptor, in fileSystem: any FileSystem) throws(FileSystemError) {
        let word = bytes.littleEndian
        try fileSystem.writeAll(Self.bytes(word) + Self.bytes(~word), to: file, at: 0)
    }

    private static func bytes(_ word: Int64) -> [UInt8] {
        withUnsafeBytes(of: word) { [UInt8]($0) }
    }
}
