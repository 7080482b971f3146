import FileSystemTestSupport
import PrefetchFileSystem
import Synchronization
import SystemPackage

/// One file, in memory.
final class MemoryFile: UnimplementedFileSystem {
    static let descriptor = Descriptor(rawValue: 1000)

    private let content: Mutex<[UInt8]>

    init(_ content: [UInt8] = []) {
        self.content = Mutex(content)
    }

    func read(_: Descriptor, into buffer: UnsafeMutableRawBufferPointer, at offset: Int64)
        throws(FileSystemError) -> Int
    {
        content.withLock { content in
            let rest = content.dropFirst(Int(clamping: offset)).prefix(buffer.count)
            buffer.copyBytes(from: rest)
            return rest.count
        }
    }

    func write(_ bytes: UnsafeRawBufferPointer, to _: Descriptor, at offset: Int64)
        throws(FileSystemError) -> Int
    {
        content.withLock { content in
            let end = Int(offset) + bytes.count
            if content.count < end { content += [UInt8](repeating: 0, count: end - content.count) }
            content.replaceSubrange(Int(offset)..<end, with: bytes)
            return bytes.count
        }
    }

    func beginsWithHole(_: Descriptor) throws(FileSystemError) -> Bool { false }

    func attributes(of _: Descriptor) throws(FileSystemError) -> FileAttributes {
        let length = Int64(content.withLock(\.count))
        return FileAttributes(
            kind: .regular, identity: .init(device: 0, inode: 0), length: length, allocated: length,
            linkCount: 1, owner: 0, permissions: [], modified: 0)
    }
}
