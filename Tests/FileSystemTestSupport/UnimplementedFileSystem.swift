public import PrefetchFileSystem
public import SystemPackage

/// A file system in which every call fails with `ENOSYS`. A test double implements the calls that
/// its subject may make; any other one fails the test.
public protocol UnimplementedFileSystem: FileSystem {}

extension UnimplementedFileSystem {
    private func fail(_ call: String = #function) throws(FileSystemError) -> Never {
        throw FileSystemError(call, errno: .noFunction)
    }

    public var userID: UInt32 { 0 }

    public func open(_: FilePath, in _: Descriptor, _: OpenMode) throws(FileSystemError) -> Descriptor {
        try fail()
    }

    public func close(_: Descriptor) {}

    public func read(_: Descriptor, into _: UnsafeMutableRawBufferPointer, at _: Int64)
        throws(FileSystemError) -> Int
    { try fail() }

    public func write(_: UnsafeRawBufferPointer, to _: Descriptor, at _: Int64) throws(FileSystemError) -> Int
    {
        try fail()
    }

    public func resize(_: Descriptor, to _: Int64) throws(FileSystemError) { try fail() }

    public func synchronize(_: Descriptor) throws(FileSystemError) { try fail() }

    public func attributes(of _: Descriptor) throws(FileSystemError) -> FileAttributes { try fail() }

    public func attributes(of _: FilePath, in _: Descriptor) throws(FileSystemError) -> FileAttributes? {
        try fail()
    }

    public func makeDirectory(_: FilePath, in _: Descriptor, permissions _: FilePermissions)
        throws(FileSystemError) -> Bool
    { try fail() }

    public func rename(_: FilePath, in _: Descriptor, to _: FilePath, in _: Descriptor, _: RenameMode)
        throws(FileSystemError)
    { try fail() }

    public func requireWritable(_: Descriptor) throws(FileSystemError) { try fail() }

    public func unlink(_: FilePath, in _: Descriptor) throws(FileSystemError) { try fail() }

    public func removeDirectory(_: FilePath, in _: Descriptor) throws(FileSystemError) { try fail() }

    public func entries(of _: Descriptor) throws(FileSystemError) -> [DirectoryEntry] { try fail() }

    public func lock(_: Descriptor, _: LockMode, waiting _: Bool) throws(FileSystemError) -> Bool {
        try fail()
    }

    public func unlock(_: Descriptor) {}

    public func allocate(_: Int64, for _: Descriptor) throws(FileSystemError) { try fail() }

    public func setPermissions(_: FilePermissions, of _: Descriptor) throws(FileSystemError) { try fail() }

    public func extendedAttribute(_: String, of _: Descriptor) throws(FileSystemError) -> [UInt8]? {
        try fail()
    }

    public func setExtendedAttribute(_: String, to _: [UInt8]?, of _: Descriptor) throws(FileSystemError) {
        try fail()
    }

    public func setNoDump(_: Bool, of _: Descriptor) throws(FileSystemError) { try fail() }

    public func isNoDump(_: Descriptor) throws(FileSystemError) -> Bool { try fail() }

    public func volume(of _: Descriptor) throws(FileSystemError) -> VolumeFigures { try fail() }
}
