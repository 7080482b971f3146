internal import FileSystem
internal import SystemPackage

/// How much of the budget a process may hold, as it stands in the process's lock file.
///
/// The catalog knows that exactly, and can be lost. The lock file is where a process is known to live,
/// and tells at least as much at every moment: it is written before a grant is committed, and after
/// one was given back.
struct WriterBound {
    static let length: Int64 = 16
    /// How often a reader looks again when it has met a writer.
    private static let attempts = 1000

    let bytes: Int64

    init(_ bytes: Int64) {
        self.bytes = bytes
    }

    /// Reads it while its process may be writing it.
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

    /// Writes it with one call, and its complement with it, by which a reader knows that it has read
    /// both whole.
    func write(to file: Descriptor, in fileSystem: any FileSystem) throws(FileSystemError) {
        let word = bytes.littleEndian
        try fileSystem.writeAll(Self.bytes(word) + Self.bytes(~word), to: file, at: 0)
    }

    private static func bytes(_ word: Int64) -> [UInt8] {
        withUnsafeBytes(of: word) { [UInt8]($0) }
    }
}
