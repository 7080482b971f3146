package import PrefetchFileSystem
package import SystemPackage

/// A file system in which every call fails with `ENOSYS`. A test double implements the calls that
/// its subject may make; any other one fails the test.
package protocol UnimplementedFileSystem: FileSystem {}

extension UnimplementedFileSystem {
    private func fail(_ call: String = #function) throws(FileSystemError) -> Never {
        throw FileSystemError(call, errno: .noFunction)
    }

    package var userID: UInt32 { 0 }

    package func open(_: FilePath, in _: Descriptor, _: OpenMode) throws(FileSystemError) -> Descriptor {
        try fail()
    }

    package func close(_: Descriptor) {}

    package func read(_: Descriptor, into _: UnsafeMutableRawBufferPointer, at _: Int64)
        throws(FileSystemError) -> Int
    { try fail() }

    package func write(_: UnsafeRawBufferPointer, to _: Descriptor, at _: Int64) throws(FileSystemError)
        -> Int
    {
        try fail()
    }

    package func resize(_: Descriptor, to _: Int64) throws(FileSystemError) { try fail() }

    package func beginsWithHole(_: Descriptor) throws(FileSystemError) -> Bool { try fail() }

    package func synchronize(_: Descriptor) throws(FileSystemError) { try fail() }

    package func attributes(of _: Descriptor) throws(FileSystemError) -> FileAttributes { try fail() }

    package func attributes(of _: FilePath, in _: Descriptor) throws(FileSystemError) -> FileAttributes? {
        try fail()
    }

    package func makeDirectory(_: FilePath, in _: Descriptor, permissions _: FilePermissions)
        throws(FileSystemError) -> Bool
    { try fail() }

    package func rename(_: FilePath, in _: Descriptor, to _: FilePath, in _: Descriptor, _: RenameMode)
        throws(FileSystemError)
    { try fail() }

    package func requireWritable(_: Descriptor) throws(FileSystemError) { try fail() }

    package func unlink(_: FilePath, in _: Descriptor) throws(FileSystemError) { try fail() }

    package func removeDirectory(_: FilePath, in _: Descriptor) throws(FileSystemError) { try fail() }

    package func entries(of _: Descriptor) throws(FileSystemError) -> [DirectoryEntry] { try fail() }

    package func lock(_: Descriptor, _: LockMode, waiting _: Bool) throws(FileSystemError) -> Bool {
        try fail()
    }

    package func unlock(_: Descriptor) {}

    package func lockByte(_: Int64, of _: Descriptor) throws(FileSystemError) -> Bool { try fail() }

    package func allocate(_: Int64, for _: Descriptor) throws(FileSystemError) { try fail() }

    package func setPermissions(_: FilePermissions, of _: Descriptor) throws(FileSystemError) { try fail() }

    package func extendedAttribute(_: String, of _: Descriptor) throws(FileSystemError) -> [UInt8]? {
        try fail()
    }

    package func setExtendedAttribute(_: String, to _: [UInt8]?, of _: Descriptor) throws(FileSystemError) {
        try fail()
    }

    package func setNoDump(_: Bool, of _: Descriptor) throws(FileSystemError) { try fail() }

    package func isNoDump(_: Descriptor) throws(FileSystemError) -> Bool { try fail() }

    package func volume(of _: Descriptor) throws(FileSystemError) -> VolumeFigures { try fail() }
}

// What most test doubles do without.
extension FileSystem {
    /// No limit, for file systems that do not use the operating system's descriptors.
    package var descriptorLimit: Int { .max }

    /// For file systems on which reading a file's times has no cost.
    package func inode(of name: FilePath, in directory: Descriptor) throws(FileSystemError) -> UInt64? {
        try attributes(of: name, in: directory)?.identity.inode
    }

    package func lengthAndLinks(of file: Descriptor) throws(FileSystemError) -> (
        length: Int64, linkCount: UInt64
    ) {
        let attributes = try attributes(of: file)
        return (attributes.length, attributes.linkCount)
    }

    /// Returns `nil`, for file systems that do not keep creation times.
    package func birthTime(of file: Descriptor) throws(FileSystemError) -> Int64? { nil }

    /// Returns `nil`, for file systems that do not keep access times.
    package func accessTime(of file: Descriptor) throws(FileSystemError) -> Int64? { nil }

    /// Does nothing, for file systems that do not keep access times.
    package func setTimes(accessed _: Int64, modified _: Int64?, of _: Descriptor) throws(FileSystemError) {}

    /// Returns `nil`, for file systems that do not report it.
    package func isBeingWritten(_ file: Descriptor) throws(FileSystemError) -> Bool? { nil }

    /// Fails, for file systems whose files share no blocks.
    package func clone(
        _ file: Descriptor, to name: FilePath, in directory: Descriptor, permissions: FilePermissions
    ) throws(FileSystemError) {
        throw FileSystemError("clone", path: name, errno: .notSupported)
    }

    /// Does nothing, for file systems that free the space of removed files immediately.
    package func synchronizeVolume(of file: Descriptor) throws(FileSystemError) {}
}
