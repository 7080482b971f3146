internal import Foundation
package import PrefetchFileSystem
internal import PrefetchStorageAreas
internal import Synchronization
package import SystemPackage

/// Looks at a call before it is made, and may make it fail.
package typealias Interceptor = @Sendable (Operation) throws(FileSystemError) -> Void

/// The live file system, with a test in between that may look at every call, and make it fail.
///
/// Calls that change something are made one at a time, interceptor and all: what an interceptor sees
/// on disk is not half of somebody else's change.
package final class InterceptingFileSystem: FileSystem {
    private let live = LiveFileSystem()
    private let weaknesses: Set<Weakness>
    private let space: SimulatedVolume?
    private let device: AppleVolume?
    private let isOutside: Bool
    /// In a type of its own: a closure that a mutex holds is wrapped anew whenever it is read, and a call of it goes through
    /// all these layers.
    private struct Interception: Sendable {
        let call: Interceptor
    }

    private let interception: Mutex<Interception>
    private let gate = NSRecursiveLock()
    private let names = Mutex<[Descriptor: String]>([:])
    private let paths = Mutex<[Descriptor: String]>([:])
    private let isDead = Atomic<Bool>(false)

    /// - Parameters:
    ///   - weaknesses: What the live file system promises and this one does not keep.
    ///   - volume: The space that files written through this file system take; `nil` for that of the machine.
    ///   - device: `nil` for none of Apple's.
    ///   - isOutside: Whether it is that of a process which never has the databases of a cache open.
    package init(
        with weaknesses: Set<Weakness> = [], on volume: SimulatedVolume? = nil,
        of device: AppleVolume? = nil, isOutside: Bool = false,
        _ interceptor: @escaping Interceptor = { _ in }
    ) {
        self.weaknesses = weaknesses
        space = volume
        self.device = device
        self.isOutside = isOutside
        interception = Mutex(Interception(call: interceptor))
    }

    /// Replaces the interceptor.
    package func intercept(_ interceptor: @escaping Interceptor) {
        interception.withLock { $0 = Interception(call: interceptor) }
    }

    /// How many files and folders are open.
    package var openFiles: Int { names.withLock { $0.count } }

    /// Does what the death of the process does: closes all files, with which their locks go, and lets no call
    /// through any more.
    package func die() {
        guard !isDead.exchange(true, ordering: .sequentiallyConsistent) else { return }
        let files = names.withLock { names in
            defer { names = [:] }
            return Array(names.keys)
        }
        for file in files { live.unlock(file) }
    }

    private func note(_ operation: Operation, of file: Descriptor) throws(FileSystemError) {
        var operation = operation
        operation.path = path(of: file)
        try note(operation)
    }

    private func note(_ operation: Operation, in directory: Descriptor) throws(FileSystemError) {
        var operation = operation
        operation.path = path(of: operation.name, in: directory)
        try note(operation)
    }

    private func note(_ operation: Operation) throws(FileSystemError) {
        let interception = interception.withLock { $0 }
        try interception.call(operation)
        space?.noteCall()
        if isDead.load(ordering: .sequentiallyConsistent) {
            throw FileSystemError(operation.kind.rawValue, errno: .ioError)
        }
    }

    private func path(of file: Descriptor) -> String? { paths.withLock { $0[file] } }

    private func path(of name: String, in directory: Descriptor) -> String? {
        name.hasPrefix("/") ? name : path(of: directory).map { "\($0)/\(name)" }
    }

    /// Where a link leads that is to be followed.
    private func target(of name: FilePath, in directory: Descriptor) -> FilePath? {
        guard weaknesses.contains(.followingLinks), let path = path(of: name.string, in: directory) else {
            return nil
        }
        do {
            return FilePath(try FileManager.default.destinationOfSymbolicLink(atPath: path))
        } catch {
            // It is none.
            return nil
        }
    }

    private func name(of file: Descriptor) -> String {
        names.withLock { $0[file] ?? "#\(file.rawValue)" }
    }

    package var userID: UInt32 { live.userID }

    package var descriptorLimit: Int { live.descriptorLimit }

    package func open(_ name: FilePath, in directory: Descriptor, _ mode: OpenMode)
        throws(FileSystemError) -> Descriptor
    {
        if !isOutside { name.requireNoDatabase() }
        try note(Operation(kind: .open, name: name.string, isCreating: mode.isCreating), in: directory)
        let file =
            if let target = target(of: name, in: directory) {
                try live.open(target, in: .workingDirectory, mode)
            } else {
                try live.open(name, in: directory, mode)
            }
        names.withLock { $0[file] = name.string }
        let path = path(of: name.string, in: directory)
        paths.withLock { $0[file] = path }
        return file
    }

    package func close(_ file: Descriptor) {
        // The number may be that of somebody else's file by now.
        guard !isDead.load(ordering: .sequentiallyConsistent) else { return }
        forget(file)
        live.close(file)
    }

    private func forget(_ file: Descriptor) {
        names.withLock { $0[file] = nil }
        paths.withLock { $0[file] = nil }
    }

    package func read(_ file: Descriptor, into buffer: UnsafeMutableRawBufferPointer, at offset: Int64)
        throws(FileSystemError) -> Int
    {
        try note(Operation(kind: .read, name: name(of: file), offset: offset, count: buffer.count), of: file)
        return try live.read(file, into: buffer, at: offset)
    }

    package func write(_ bytes: UnsafeRawBufferPointer, to file: Descriptor, at offset: Int64)
        throws(FileSystemError) -> Int
    {
        gate.lock()
        defer { gate.unlock() }
        try note(Operation(kind: .write, name: name(of: file), offset: offset, count: bytes.count), of: file)
        if let space {
            let length = try live.attributes(of: file).length
            try space.change(from: length, to: max(length, offset + Int64(bytes.count)), "write")
        }
        return try live.write(bytes, to: file, at: offset)
    }

    package func resize(_ file: Descriptor, to length: Int64) throws(FileSystemError) {
        gate.lock()
        defer { gate.unlock() }
        try note(Operation(kind: .resize, name: name(of: file), offset: length), of: file)
        if let space { try space.change(from: live.attributes(of: file).length, to: length, "ftruncate") }
        try live.resize(file, to: length)
    }

    package func beginsWithHole(_ file: Descriptor) throws(FileSystemError) -> Bool {
        try note(Operation(kind: .hole, name: name(of: file)), of: file)
        if weaknesses.contains(.hiddenHoles) { return false }
        return try live.beginsWithHole(file)
    }

    package func synchronize(_ file: Descriptor) throws(FileSystemError) {
        try note(Operation(kind: .synchronize, name: name(of: file)), of: file)
        if !weaknesses.contains(.noSynchronize) { try live.synchronize(file) }
    }

    package func attributes(of file: Descriptor) throws(FileSystemError) -> FileAttributes {
        try note(Operation(kind: .attributes, name: name(of: file)), of: file)
        let attributes = try live.attributes(of: file)
        return device?.attributes(attributes) ?? attributes
    }

    package func protection(of file: Descriptor) throws(FileSystemError) -> FileProtection? {
        guard let device else { return nil }
        return device.protection(of: try live.attributes(of: file).identity)
    }

    package func setProtection(_ protection: FileProtection, of file: Descriptor) throws(FileSystemError) {
        device?.protect(try live.attributes(of: file).identity, protection)
    }

    package func lengthAndLinks(of file: Descriptor) throws(FileSystemError) -> (
        length: Int64, linkCount: UInt64
    ) {
        try note(Operation(kind: .attributes, name: name(of: file)), of: file)
        return try live.lengthAndLinks(of: file)
    }

    package func inode(of name: FilePath, in directory: Descriptor) throws(FileSystemError) -> UInt64? {
        try note(Operation(kind: .attributes, name: name.string), in: directory)
        return try live.inode(of: name, in: directory)
    }

    package func attributes(of name: FilePath, in directory: Descriptor)
        throws(FileSystemError) -> FileAttributes?
    {
        try note(Operation(kind: .attributes, name: name.string), in: directory)
        guard let attributes = try live.attributes(of: name, in: directory) else { return nil }
        return device?.attributes(attributes) ?? attributes
    }

    package func birthTime(of file: Descriptor) throws(FileSystemError) -> Int64? {
        try note(Operation(kind: .attributes, name: name(of: file)), of: file)
        return try live.birthTime(of: file)
    }

    package func accessTime(of file: Descriptor) throws(FileSystemError) -> Int64? {
        try note(Operation(kind: .attributes, name: name(of: file)), of: file)
        return try live.accessTime(of: file)
    }

    package func setTimes(accessed: Int64, modified: Int64?, of file: Descriptor) throws(FileSystemError) {
        try note(Operation(kind: .setAccessTime, name: name(of: file)), of: file)
        try live.setTimes(accessed: accessed, modified: modified, of: file)
    }

    package func extendedAttributes(of file: Descriptor) throws(FileSystemError) -> [String] {
        try live.extendedAttributes(of: file)
    }

    package func data(of file: Descriptor, from offset: Int64) throws(FileSystemError) -> Range<Int64>? {
        try live.data(of: file, from: offset)
    }

    package func punchHole(_ range: Range<Int64>, in file: Descriptor) throws(FileSystemError) {
        try live.punchHole(range, in: file)
    }

    package func makeDirectory(_ name: FilePath, in directory: Descriptor, permissions: FilePermissions)
        throws(FileSystemError) -> Bool
    {
        gate.lock()
        defer { gate.unlock() }
        try note(Operation(kind: .makeDirectory, name: name.string), in: directory)
        return try live.makeDirectory(name, in: directory, permissions: permissions)
    }

    package func requireWritable(_ directory: Descriptor) throws(FileSystemError) {
        try note(Operation(kind: .access, name: name(of: directory)), of: directory)
        try live.requireWritable(directory)
    }

    package func rename(
        _ name: FilePath, in directory: Descriptor, to newName: FilePath, in newDirectory: Descriptor,
        _ mode: RenameMode
    ) throws(FileSystemError) {
        gate.lock()
        defer { gate.unlock() }
        try note(
            Operation(
                kind: .rename, name: name.string, newName: newName.string,
                path: path(of: name.string, in: directory),
                newPath: path(of: newName.string, in: newDirectory)))
        if let space, mode == .replacing, let replaced = try live.attributes(of: newName, in: newDirectory),
            replaced.kind == .regular, replaced.linkCount == 1
        {
            try space.change(from: replaced.length, to: 0, "renameat")
        }
        let isWeak = mode == .exclusive && weaknesses.contains(.replacingRename)
        try live.rename(name, in: directory, to: newName, in: newDirectory, isWeak ? .replacing : mode)
        guard weaknesses.contains(.forgetfulRename) else { return }
        try live.withFile(newName, in: newDirectory, .read) { file throws(FileSystemError) in
            try BackupMark(fileSystem: live).set(.include, on: file)
        }
    }

    package func clone(
        _ file: Descriptor, to name: FilePath, in directory: Descriptor, permissions: FilePermissions
    ) throws(FileSystemError) {
        gate.lock()
        defer { gate.unlock() }
        try note(Operation(kind: .clone, name: self.name(of: file), newName: name.string))
        // Shared blocks are not accounted for.
        if space != nil { throw FileSystemError("clone", errno: .notSupported) }
        try live.clone(file, to: name, in: directory, permissions: permissions)
    }

    package func unlink(_ name: FilePath, in directory: Descriptor) throws(FileSystemError) {
        gate.lock()
        defer { gate.unlock() }
        try note(Operation(kind: .unlink, name: name.string), in: directory)
        let file = space == nil ? nil : try live.attributes(of: name, in: directory)
        try live.unlink(name, in: directory)
        if let space, let file, file.kind == .regular, file.linkCount == 1 {
            try space.change(from: file.length, to: 0, "unlink")
        }
    }

    package func removeDirectory(_ name: FilePath, in directory: Descriptor) throws(FileSystemError) {
        gate.lock()
        defer { gate.unlock() }
        try note(Operation(kind: .removeDirectory, name: name.string), in: directory)
        try live.removeDirectory(name, in: directory)
    }

    package func entries(of directory: Descriptor) throws(FileSystemError) -> [DirectoryEntry] {
        try note(Operation(kind: .entries, name: name(of: directory)), of: directory)
        return try live.entries(of: directory)
    }

    package func isBeingWritten(_ file: Descriptor) throws(FileSystemError) -> Bool? {
        try note(Operation(kind: .attributes, name: name(of: file)), of: file)
        return try live.isBeingWritten(file)
    }

    package func lock(_ file: Descriptor, _ mode: LockMode, waiting: Bool) throws(FileSystemError) -> Bool {
        try note(Operation(kind: .lock, name: name(of: file)), of: file)
        if weaknesses.contains(.looseLocks) { return true }
        return try live.lock(file, mode, waiting: waiting)
    }

    package func unlock(_ file: Descriptor) {
        guard !isDead.load(ordering: .sequentiallyConsistent) else { return }
        forget(file)
        live.unlock(file)
    }

    package func lockByte(_ position: Int64, of file: Descriptor) throws(FileSystemError) -> Bool {
        try note(Operation(kind: .lock, name: name(of: file), offset: position, count: 1), of: file)
        if weaknesses.contains(.looseLocks) { return true }
        return try live.lockByte(position, of: file)
    }

    package func allocate(_ length: Int64, for file: Descriptor) throws(FileSystemError) {
        gate.lock()
        defer { gate.unlock() }
        try note(Operation(kind: .allocate, name: name(of: file), count: Int(length)), of: file)
        // Blocks beyond a file's end are not accounted for.
        if space != nil { throw FileSystemError("fallocate", errno: .notSupported) }
        try live.allocate(length, for: file)
    }

    package func setPermissions(_ permissions: FilePermissions, of file: Descriptor) throws(FileSystemError) {
        try note(Operation(kind: .setPermissions, name: name(of: file)), of: file)
        try live.setPermissions(permissions, of: file)
    }

    package func extendedAttribute(_ name: String, of file: Descriptor) throws(FileSystemError) -> [UInt8]? {
        try note(Operation(kind: .extendedAttribute, name: self.name(of: file)), of: file)
        return try live.extendedAttribute(name, of: file)
    }

    package func setExtendedAttribute(_ name: String, to value: [UInt8]?, of file: Descriptor)
        throws(FileSystemError)
    {
        try note(Operation(kind: .extendedAttribute, name: self.name(of: file)), of: file)
        try live.setExtendedAttribute(name, to: value, of: file)
    }

    package func setNoDump(_ enabled: Bool, of file: Descriptor) throws(FileSystemError) {
        try note(Operation(kind: .noDump, name: name(of: file)), of: file)
        try live.setNoDump(enabled, of: file)
    }

    package func isNoDump(_ file: Descriptor) throws(FileSystemError) -> Bool {
        try note(Operation(kind: .noDump, name: name(of: file)), of: file)
        return try live.isNoDump(file)
    }

    package func volume(of file: Descriptor) throws(FileSystemError) -> VolumeFigures {
        try note(Operation(kind: .volume, name: name(of: file)), of: file)
        if let space { return space.figures }
        return try live.volume(of: file)
    }

    package func startWriting(_ file: Descriptor) { live.startWriting(file) }

    package func synchronizeVolume(of file: Descriptor) throws(FileSystemError) {
        try note(Operation(kind: .synchronizeVolume, name: name(of: file)), of: file)
        if let space {
            space.synchronize()
        } else if !weaknesses.contains(.noSynchronize) {
            try live.synchronizeVolume(of: file)
        }
    }
}

extension OpenMode {
    fileprivate var isCreating: Bool {
        switch self {
        case .createNew, .createIfMissing: true
        default: false
        }
    }
}
