internal import FileSystem

extension FileSystem {
    /// The first `count` bytes of a file, or all of a shorter one.
    func prefix(of file: Descriptor, count: Int) throws(FileSystemError) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        let done = try bytes.withMutableBytes { buffer throws(FileSystemError) in
            try readAll(file, into: buffer, at: 0)
        }
        bytes.removeLast(count - done)
        return bytes
    }
}
