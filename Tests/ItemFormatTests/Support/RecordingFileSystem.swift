import FileSystemTestSupport
import PrefetchFileSystem
import Synchronization
import SystemPackage

/// Forwards to the operating system the calls that the format needs, and records them. Any
/// other call fails: neither the writer nor the reader has any business with it.
final class RecordingFileSystem: UnimplementedFileSystem {
    enum Call: Equatable {
        /// The length is what was asked for.
        case read(offset: Int64, length: Int)
        case write(offset: Int64, length: Int)
        case attributes
    }

    private struct State {
        var calls: [Call] = []
        var failure: Errno?
    }

    private let live = LiveFileSystem()
    private let mostPerCall: Int
    private let state = Mutex(State())

    /// - Parameter mostPerCall: The most bytes that one call reads or writes, however many are asked
    ///   for, as a kernel may do.
    init(mostPerCall: Int = .max) {
        self.mostPerCall = mostPerCall
    }

    /// The calls made so far.
    var calls: [Call] { state.withLock(\.calls) }

    /// Forgets the calls made so far.
    func forget() {
        state.withLock { $0.calls = [] }
    }

    /// Makes every call from now on fail.
    func fail(with errno: Errno) {
        state.withLock { $0.failure = errno }
    }

    private func record(_ name: String, _ call: Call) throws(FileSystemError) {
        let failure = state.withLock { state in
            state.calls.append(call)
            return state.failure
        }
        if let failure { throw FileSystemError(name, errno: failure) }
    }

    func read(_ file: Descriptor, into buffer: UnsafeMutableRawBufferPointer, at offset: Int64)
        throws(FileSystemError) -> Int
    {
        try record("read", .read(offset: offset, length: buffer.count))
        let part = UnsafeMutableRawBufferPointer(rebasing: buffer.prefix(mostPerCall))
        return try live.read(file, into: part, at: offset)
    }

    func write(_ bytes: UnsafeRawBufferPointer, to file: Descriptor, at offset: Int64)
        throws(FileSystemError) -> Int
    {
        try record("write", .write(offset: offset, length: bytes.count))
        return try live.write(
            UnsafeRawBufferPointer(rebasing: bytes.prefix(mostPerCall)), to: file, at: offset)
    }

    func beginsWithHole(_ file: Descriptor) throws(FileSystemError) -> Bool {
        try live.beginsWithHole(file)
    }

    func attributes(of file: Descriptor) throws(FileSystemError) -> FileAttributes {
        try record("fstat", .attributes)
        return try live.attributes(of: file)
    }
}
