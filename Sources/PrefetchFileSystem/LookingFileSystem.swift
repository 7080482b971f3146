internal import Synchronization
package import SystemPackage

#if os(Linux)
    internal import CPrefetchPlatform
#endif

/// A file system on which everything can be looked at and nothing changes, not even an access time where the system permits
/// that.
///
/// It behaves like a read-only volume: what would change something fails with `EROFS` before it reaches the system. So that
/// a caller need not tell, a folder that would be created, and a lock file, which nobody holds while it is missing, are there
/// for this object alone, and empty.
package final class LookingFileSystem: FileSystem {
    private let base: any FileSystem
    private let state = UnfairMutex(State())

    /// A folder or an empty file that exists for this object alone.
    private struct Imagined: Sendable {
        let attributes: FileAttributes
        /// The nearest folder that is really there.
        let host: Directory
    }

    private struct Name: Hashable {
        let directory: Descriptor
        let name: FilePath
    }

    private struct State {
        var names: [Name: Descriptor] = [:]
        var imagined: [Descriptor: Imagined] = [:]
        /// Of what is imagined. The system's are not negative, but for that of the working directory.
        var lastDescriptor: CInt = -1_000_000
    }

    package init(_ base: any FileSystem) {
        self.base = base
    }

    package var userID: UInt32 { base.userID }
    package var descriptorLimit: Int { base.descriptorLimit }

    // MARK: Looking

    package func open(_ name: FilePath, in directory: Descriptor, _ mode: OpenMode) throws(FileSystemError)
        -> Descriptor
    {
        switch mode {
        case .createNew: throw refusal("open", name)
        case .readWrite: throw try refusal("open", changing: name, in: directory)
        case .createIfMissing(let permissions):
            do {
                return try open(name, in: directory, .readWithoutAccessTime)
            } catch {
                guard error.isNotFound else { throw error }
                return try imagine(.regular, name, in: directory, as: permissions)
            }
        default: break
        }
        let missing = FileSystemError("open", path: name, errno: .noSuchFileOrDirectory)
        do throws(FileSystemError) {
            guard self[directory] == nil else { throw missing }
            return try base.open(name, in: directory, mode == .read ? .readWithoutAccessTime : mode)
        } catch {
            guard error.isNotFound, let known = imagined(name, in: directory) else { throw error }
            return known
        }
    }

    package func close(_ file: Descriptor) {
        guard self[file] == nil else { return }
        // What was imagined in it would otherwise be in the next folder with this number.
        state.withLock { state in
            if !state.names.isEmpty { state.names = state.names.filter { $0.key.directory != file } }
        }
        base.close(file)
    }

    package func unlock(_ file: Descriptor) {
        if self[file] == nil { base.unlock(file) }
    }

    package func lock(_ file: Descriptor, _ mode: LockMode, waiting: Bool) throws(FileSystemError) -> Bool {
        try self[file] == nil ? base.lock(file, mode, waiting: waiting) : true
    }

    package func lockByte(_ position: Int64, of file: Descriptor) throws(FileSystemError) -> Bool {
        try self[file] == nil ? base.lockByte(position, of: file) : true
    }

    package func read(_ file: Descriptor, into buffer: UnsafeMutableRawBufferPointer, at offset: Int64)
        throws(FileSystemError) -> Int
    {
        try self[file] == nil ? base.read(file, into: buffer, at: offset) : 0
    }

    package func tellsWhatIsInMemory(_ folder: Descriptor) -> Bool {
        self[folder] == nil && base.tellsWhatIsInMemory(folder)
    }

    package func readIfInMemory(
        _ name: FilePath, in directory: Descriptor, into buffer: UnsafeMutableRawBufferPointer
    ) throws(FileSystemError) -> Int? {
        try base.readIfInMemory(name, in: directory, into: buffer)
    }

    package func attributes(of file: Descriptor) throws(FileSystemError) -> FileAttributes {
        if let known = self[file] { return known.attributes }
        return try base.attributes(of: file)
    }

    package func attributes(of name: FilePath, in directory: Descriptor) throws(FileSystemError)
        -> FileAttributes?
    {
        let found = try self[directory] == nil ? base.attributes(of: name, in: directory) : nil
        return found ?? imagined(name, in: directory).flatMap { self[$0]?.attributes }
    }

    package func inode(of name: FilePath, in directory: Descriptor) throws(FileSystemError) -> UInt64? {
        try attributes(of: name, in: directory)?.identity.inode
    }

    package func lengthAndLinks(of file: Descriptor) throws(FileSystemError) -> (
        length: Int64, linkCount: UInt64
    ) {
        try self[file] == nil ? base.lengthAndLinks(of: file) : (0, 1)
    }

    package func entries(of directory: Descriptor) throws(FileSystemError) -> [DirectoryEntry] {
        try self[directory] == nil ? base.entries(of: directory) : []
    }

    package func beginsWithHole(_ file: Descriptor) throws(FileSystemError) -> Bool {
        try self[file] == nil ? base.beginsWithHole(file) : false
    }

    package func birthTime(of file: Descriptor) throws(FileSystemError) -> Int64? {
        try self[file] == nil ? base.birthTime(of: file) : nil
    }

    package func accessTime(of file: Descriptor) throws(FileSystemError) -> Int64? {
        try self[file] == nil ? base.accessTime(of: file) : nil
    }

    package func isBeingWritten(_ file: Descriptor) throws(FileSystemError) -> Bool? {
        try self[file] == nil ? base.isBeingWritten(file) : nil
    }

    package func protection(of file: Descriptor) throws(FileSystemError) -> FileProtection? {
        try self[file] == nil ? base.protection(of: file) : nil
    }

    package func extendedAttribute(_ name: String, of file: Descriptor) throws(FileSystemError) -> [UInt8]? {
        try self[file] == nil ? base.extendedAttribute(name, of: file) : nil
    }

    package func extendedAttributes(of file: Descriptor) throws(FileSystemError) -> [String] {
        try self[file] == nil ? base.extendedAttributes(of: file) : []
    }

    package func data(of file: Descriptor, from offset: Int64) throws(FileSystemError) -> Range<Int64>? {
        try self[file] == nil ? base.data(of: file, from: offset) : nil
    }

    package func isNoDump(_ file: Descriptor) throws(FileSystemError) -> Bool {
        try self[file] == nil ? base.isNoDump(file) : false
    }

    package func volume(of file: Descriptor) throws(FileSystemError) -> VolumeFigures {
        try base.volume(of: self[file]?.host.descriptor ?? file)
    }

    // MARK: Not changing

    package func makeDirectory(_ name: FilePath, in directory: Descriptor, permissions: FilePermissions)
        throws(FileSystemError) -> Bool
    {
        if try attributes(of: name, in: directory) != nil { return false }
        _ = try imagine(.directory, name, in: directory, as: permissions)
        return true
    }

    package func requireWritable(_: Descriptor) throws(FileSystemError) { throw refusal("access") }

    package func write(_: UnsafeRawBufferPointer, to _: Descriptor, at _: Int64) throws(FileSystemError)
        -> Int
    {
        throw refusal("write")
    }

    package func resize(_: Descriptor, to _: Int64) throws(FileSystemError) { throw refusal("ftruncate") }

    package func allocate(_: Int64, for _: Descriptor) throws(FileSystemError) { throw refusal("fallocate") }

    /// Nothing was written.
    package func synchronize(_: Descriptor) {}

    package func synchronizeVolume(of _: Descriptor) {}

    /// Fails as the system would if the name does not exist, or the folders are on different volumes.
    package func rename(
        _ name: FilePath, in directory: Descriptor, to newName: FilePath, in newDirectory: Descriptor,
        _: RenameMode
    ) throws(FileSystemError) {
        let (from, to) = (try attributes(of: directory).identity, try attributes(of: newDirectory).identity)
        guard from.device == to.device else {
            throw FileSystemError("rename", path: newName, errno: .improperLink)
        }
        throw try refusal("rename", changing: name, in: directory)
    }

    package func clone(
        _: Descriptor, to name: FilePath, in _: Descriptor, permissions _: FilePermissions
    ) throws(FileSystemError) {
        throw refusal("clone", name)
    }

    package func unlink(_ name: FilePath, in directory: Descriptor) throws(FileSystemError) {
        throw try refusal("unlink", changing: name, in: directory)
    }

    package func removeDirectory(_ name: FilePath, in directory: Descriptor) throws(FileSystemError) {
        throw try refusal("rmdir", changing: name, in: directory)
    }

    package func setTimes(accessed _: Int64, modified _: Int64?, of _: Descriptor) throws(FileSystemError) {
        throw refusal("futimens")
    }

    package func punchHole(_: Range<Int64>, in _: Descriptor) throws(FileSystemError) {
        throw refusal("fallocate")
    }

    package func setPermissions(_: FilePermissions, of _: Descriptor) throws(FileSystemError) {
        throw refusal("fchmod")
    }

    /// For what is created from now on, which is nothing.
    package func setProtection(_: FileProtection, of _: Descriptor) {}

    package func setExtendedAttribute(_: String, to _: [UInt8]?, of file: Descriptor) throws(FileSystemError)
    {
        if self[file] == nil { throw refusal("fsetxattr") }
    }

    package func setNoDump(_: Bool, of file: Descriptor) throws(FileSystemError) {
        if self[file] == nil { throw refusal("set no-dump flag") }
    }

    private func refusal(_ operation: String, _ path: FilePath? = nil) -> FileSystemError {
        FileSystemError(operation, path: path, errno: .readOnlyFileSystem)
    }

    private func refusal(
        _ operation: String, changing name: FilePath, in directory: Descriptor
    ) throws(FileSystemError) -> FileSystemError {
        let isThere = try attributes(of: name, in: directory) != nil
        return isThere
            ? refusal(operation, name)
            : FileSystemError(operation, path: name, errno: .noSuchFileOrDirectory)
    }

    // MARK: What is imagined

    private subscript(_ file: Descriptor) -> Imagined? {
        guard file.rawValue < 0, file != .workingDirectory else { return nil }
        return state.withLock { $0.imagined[file] }
    }

    private func imagined(_ name: FilePath, in directory: Descriptor) -> Descriptor? {
        state.withLock { $0.names[Name(directory: directory, name: name)] }
    }

    private func imagine(
        _ kind: FileAttributes.Kind, _ name: FilePath, in directory: Descriptor,
        as permissions: FilePermissions
    ) throws(FileSystemError) -> Descriptor {
        let host =
            if let known = self[directory] {
                known.host
            } else if directory == .workingDirectory {
                try Directory.nearest(to: name.removingLastComponent(), in: base)
            } else {
                Directory(try base.open(".", in: directory, .directory), of: base)
            }
        let device = try base.attributes(of: host.descriptor).identity.device
        return state.withLock { state in
            state.lastDescriptor -= 1
            let file = Descriptor(rawValue: state.lastDescriptor)
            // No volume has so many inodes.
            let inode = UInt64.max - UInt64(-Int64(file.rawValue))
            state.names[Name(directory: directory, name: name)] = file
            state.imagined[file] = Imagined(
                attributes: FileAttributes(
                    kind: kind, identity: FileAttributes.Identity(device: device, inode: inode), length: 0,
                    allocated: 0, linkCount: 1, owner: base.userID, permissions: permissions, modified: 0),
                host: host)
            return file
        }
    }
}

#if os(Linux)
    /// For a library that opens files itself: `open`, which leaves the access time of what is only read, and `fchown`, which
    /// leaves what has that owner.
    extension LookingFileSystem {
        package static let openWithoutAccessTime:
            @Sendable @convention(c) (UnsafePointer<CChar>?, CInt, CInt) -> CInt =
                cplatform_open_without_access_time

        package static let changeOwner: @Sendable @convention(c) (CInt, UInt32, UInt32) -> CInt =
            cplatform_change_owner
    }
#endif
