package import PrefetchFileSystem
internal import Synchronization
package import SystemPackage

/// What is done with an open file.
extension SimulatedFileSystem {
    package func close(_ file: Descriptor) {
        state.withLock { state in
            guard let open = state.open.removeValue(forKey: file) else { return }
            state.locks[open.node]?[file] = nil
            state.byteLocks[open.node] = state.byteLocks[open.node]?.filter { $0.value != file }
        }
    }

    package func read(_ file: Descriptor, into buffer: UnsafeMutableRawBufferPointer, at offset: Int64)
        throws(FileSystemError) -> Int
    {
        let operation = Operation(kind: .read, name: name(of: file), offset: offset, count: buffer.count)
        let piece = try perform(operation) { state throws(FileSystemError) in
            let content = state.disk.node(try state.node(of: file, "pread")).content
            return Array(content.dropFirst(Int(offset)).prefix(buffer.count))
        }
        buffer.copyBytes(from: piece)
        return piece.count
    }

    package func write(_ bytes: UnsafeRawBufferPointer, to file: Descriptor, at offset: Int64)
        throws(FileSystemError) -> Int
    {
        let operation = Operation(kind: .write, name: name(of: file), offset: offset, count: bytes.count)
        let isShort = isShort(operation)
        let bytes = Array(isShort ? bytes.prefix((bytes.count + 1) / 2) : bytes.prefix(bytes.count))
        return try perform(operation) { state throws(FileSystemError) in
            let node = try state.writable(file, "pwrite")
            let length = Int64(state.disk.node(node).content.count)
            try space?.change(from: length, to: max(length, offset + Int64(bytes.count)), "pwrite")
            var start = 0
            while start < bytes.count {
                let place = Int(offset) + start
                let end = min(bytes.count, start + Self.pageLength - place % Self.pageLength)
                state.change(.write(node, offset: place, bytes: Array(bytes[start..<end])))
                start = end
            }
            return bytes.count
        }
    }

    package func resize(_ file: Descriptor, to length: Int64) throws(FileSystemError) {
        let operation = Operation(kind: .resize, name: name(of: file), offset: length)
        try perform(operation) { state throws(FileSystemError) in
            let node = try state.writable(file, "ftruncate")
            try space?.change(
                from: Int64(state.disk.node(node).content.count), to: length, "ftruncate")
            state.change(.resize(node, length: Int(length)))
        }
    }

    /// A page of zeros is a hole, as on ZFS.
    package func beginsWithHole(_ file: Descriptor) throws(FileSystemError) -> Bool {
        try perform(Operation(kind: .hole, name: name(of: file))) { state throws(FileSystemError) in
            let content = state.disk.node(try state.node(of: file, "lseek")).content
            return !content.isEmpty && content.prefix(Self.pageLength).allSatisfy { $0 == 0 }
        }
    }

    package func synchronize(_ file: Descriptor) throws(FileSystemError) {
        let operation = Operation(kind: .synchronize, name: name(of: file))
        try perform(operation) { state throws(FileSystemError) in
            let node = try state.node(of: file, "fsync")
            if isSabotaged(operation) { return }
            // An old name is not gone before the new one is there.
            let arrivals = state.pending.compactMap { change in
                if case .departure(node, _, _, let arrival) = change { arrival } else { nil }
            }
            state.flush { change in
                if case .entry(let folder, let name, .some) = change,
                    arrivals.contains(.init(folder: folder, name: name))
                {
                    return true
                }
                return change.isFlushed(with: node)
            }
        }
    }

    package func attributes(of file: Descriptor) throws(FileSystemError) -> FileAttributes {
        try perform(Operation(kind: .attributes, name: name(of: file))) { state throws(FileSystemError) in
            state.attributes(of: try state.node(of: file, "fstat"))
        }
    }

    package func requireWritable(_ directory: Descriptor) throws(FileSystemError) {
        try perform(Operation(kind: .access, name: name(of: directory))) { _ in }
    }

    package func entries(of directory: Descriptor) throws(FileSystemError) -> [DirectoryEntry] {
        let operation = Operation(kind: .entries, name: name(of: directory))
        return try perform(operation) { state throws(FileSystemError) in
            state.disk.node(try state.node(of: directory, "readdir")).entries.sorted { $0.key < $1.key }
                .compactMap { name, node in
                    FilePath.Component(name).map {
                        DirectoryEntry(name: $0, kind: state.disk.node(node).kind)
                    }
                }
        }
    }

    /// Whoever would have to wait would wait for ever: there is one thread.
    package func lock(_ file: Descriptor, _ mode: LockMode, waiting: Bool) throws(FileSystemError) -> Bool {
        let operation = Operation(kind: .lock, name: name(of: file))
        return try perform(operation) { state throws(FileSystemError) in
            if isSabotaged(operation) { return true }
            let node = try state.node(of: file, "flock")
            let others = state.locks[node, default: [:]].filter { $0.key != file }
            guard others.isEmpty || (mode == .shared && !others.values.contains(.exclusive)) else {
                if waiting { throw FileSystemError("flock", errno: .deadlock) }
                return false
            }
            state.locks[node, default: [:]][file] = mode
            return true
        }
    }

    package func unlock(_ file: Descriptor) { close(file) }

    package func lockByte(_ position: Int64, of file: Descriptor) throws(FileSystemError) -> Bool {
        let operation = Operation(kind: .lock, name: name(of: file), offset: position, count: 1)
        return try perform(operation) { state throws(FileSystemError) in
            if isSabotaged(operation) { return true }
            let node = try state.node(of: file, "fcntl")
            guard state.byteLocks[node]?[position] ?? file == file else { return false }
            state.byteLocks[node, default: [:]][position] = file
            return true
        }
    }

    package func allocate(_ length: Int64, for file: Descriptor) throws(FileSystemError) {
        let operation = Operation(kind: .allocate, name: name(of: file), count: Int(length))
        try perform(operation) { state throws(FileSystemError) in
            _ = try state.writable(file, "fallocate")
        }
    }

    package func setPermissions(_ permissions: FilePermissions, of file: Descriptor) throws(FileSystemError) {
        let operation = Operation(kind: .setPermissions, name: name(of: file))
        try perform(operation) { state throws(FileSystemError) in
            state.change(.permissions(try state.node(of: file, "fchmod"), permissions))
        }
    }

    package func extendedAttribute(_ name: String, of file: Descriptor) throws(FileSystemError) -> [UInt8]? {
        let operation = Operation(kind: .extendedAttribute, name: self.name(of: file))
        return try perform(operation) { state throws(FileSystemError) in
            state.disk.node(try state.node(of: file, "fgetxattr")).extendedAttributes[name]
        }
    }

    package func setExtendedAttribute(_ name: String, to value: [UInt8]?, of file: Descriptor)
        throws(FileSystemError)
    {
        let operation = Operation(kind: .extendedAttribute, name: self.name(of: file))
        try perform(operation) { state throws(FileSystemError) in
            let node = try state.node(of: file, "fsetxattr")
            guard state.disk.node(node).extendedAttributes[name] != value else { return }
            state.change(.extendedAttribute(node, name: name, value: value))
        }
    }

    package func setNoDump(_ enabled: Bool, of file: Descriptor) throws(FileSystemError) {
        try perform(Operation(kind: .noDump, name: name(of: file))) { state throws(FileSystemError) in
            let node = try state.node(of: file, "ioctl")
            guard state.disk.node(node).isNoDump != enabled else { return }
            state.change(.noDump(node, enabled))
        }
    }

    package func isNoDump(_ file: Descriptor) throws(FileSystemError) -> Bool {
        try perform(Operation(kind: .noDump, name: name(of: file))) { state throws(FileSystemError) in
            state.disk.node(try state.node(of: file, "ioctl")).isNoDump
        }
    }

    package func volume(of file: Descriptor) throws(FileSystemError) -> VolumeFigures {
        try perform(Operation(kind: .volume, name: name(of: file))) { _ in
            // Not plenty: the files that a cache keeps there for a full volume would only multiply the states after a crash.
            space?.figures ?? VolumeFigures(total: 1 << 40, available: 32 << 20, blockSize: 4096)
        }
    }

    package func synchronizeVolume(of file: Descriptor) throws(FileSystemError) {
        try perform(Operation(kind: .synchronizeVolume, name: name(of: file))) { _ in space?.synchronize() }
    }
}

extension SimulatedFileSystem.State {
    fileprivate func writable(_ file: Descriptor, _ call: String)
        throws(FileSystemError) -> SimulatedDisk.NodeID
    {
        let node = try node(of: file, call)
        guard open[file]?.isWritable == true else {
            throw FileSystemError(call, errno: .badFileDescriptor)
        }
        return node
    }
}
