package import PrefetchFileSystem
internal import Synchronization

/// One file, in memory.
package final class MemoryFile: UnimplementedFileSystem {
    package static let descriptor = Descriptor(rawValue: 1000)

    private let step: Int
    private let bytes: Mutex<[UInt8]>

    /// - Parameter step: The most bytes that a call reads or writes.
    package init(_ content: [UInt8] = [], step: Int = .max) {
        self.step = step
        bytes = Mutex(content)
    }

    package var content: [UInt8] { bytes.withLock { $0 } }

    package func read(_: Descriptor, into buffer: UnsafeMutableRawBufferPointer, at offset: Int64)
        throws(FileSystemError) -> Int
    {
        let part = content.dropFirst(Int(clamping: offset)).prefix(min(step, buffer.count))
        buffer.copyBytes(from: part)
        return part.count
    }

    package func write(_ new: UnsafeRawBufferPointer, to _: Descriptor, at offset: Int64)
        throws(FileSystemError) -> Int
    {
        let part = new.prefix(step)
        return bytes.withLock { content in
            let end = Int(offset) + part.count
            if content.count < end { content += [UInt8](repeating: 0, count: end - content.count) }
            content.replaceSubrange(Int(offset)..<end, with: part)
            return part.count
        }
    }

    package func beginsWithHole(_: Descriptor) throws(FileSystemError) -> Bool { false }

    package func attributes(of _: Descriptor) throws(FileSystemError) -> FileAttributes {
        let length = Int64(content.count)
        return FileAttributes(
            kind: .regular, identity: .init(device: 0, inode: 0), length: length, allocated: length,
            linkCount: 1, owner: 0, permissions: [], modified: 0)
    }
}
