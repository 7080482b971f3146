import FileSystem
import SystemPackage

/// A file system in which every call fails with `ENOSYS`. A test double implements the calls that
/// its subject may make; any other one fails the test.
protocol UnimplementedFileSystem: FileSystem {}

extension UnimplementedFileSystem {
    private func fail(_ call: String = #function) throws(FileSystemError) -> Never {
        throw FileSystemError(call, errno: .noFunction)
    }

    var userID: UInt32 { 0 }

    func open(_: FilePath, in _: Descriptor, _: OpenMode) throws(FileSystemError) -> Descriptor {
        try fail()
    }

    func close(_: Descriptor) {}

    func read(_: Descriptor, into _: UnsafeMutableRawBufferPointer, at _: Int64)
        throws(FileSystemError) -> Int
    { try fail() }

    func write(_: UnsafeRawBufferPointer, to _: Descriptor, at _: Int64) throws(FileSystemError) -> Int {
        try fail()
    }

    func resize(_: Descriptor, to _: Int64) throws(FileSystemError) { try fail() }

    func synchronize(_: Descriptor) throws(FileSystemError) { try fail() }

    func attributes(of _: Descriptor) throws(FileSystemError) -> FileAttributes { try fail() }

    func attributes(of _: FilePath, in _: Descriptor) throws(FileSystemError) -> FileAttributes? {
        try fail()
    }

    func makeDirectory(_: FilePath, in _: Descriptor, permissions _: FilePermissions)
        throws(FileSystemError) -> Bool
    { try fail() }

    func rename(_: FilePath, in _: Descriptor, to _: FilePath, in _: Descriptor, _: RenameMode)
        throws(FileSystemError)
    { try fail() }

    func unlink(_: FilePath, in _: Descriptor) throws(FileSystemError) { try fail() }

    func removeDirectory(_: FilePath, in _: Descriptor) throws(FileSystemError) { try fail() }

    func entries(of _: Descriptor) throws(FileSystemError) -> [DirectoryEntry] { try fail() }

    func lock(_: Descriptor, waiting _: Bool) throws(FileSystemError) -> Bool { try fail() }

    func setPermissions(_: FilePermissions, of _: Descriptor) throws(FileSystemError) { try fail() }

    func extendedAttribute(_: String, of _: Descriptor) throws(FileSystemError) -> [UInt8]? { try fail() }

    func setExtendedAttribute(_: String, to _: [UInt8]?, of _: Descriptor) throws(FileSystemError) {
        try fail()
    }

    func setNoDump(_: Bool, of _: Descriptor) throws(FileSystemError) { try fail() }

    func isNoDump(_: Descriptor) throws(FileSystemError) -> Bool { try fail() }

    func volume(of _: Descriptor) throws(FileSystemError) -> VolumeFigures { try fail() }
}
