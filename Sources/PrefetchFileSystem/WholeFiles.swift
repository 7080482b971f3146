package import SystemPackage

extension FileSystem {
    /// Writes all of `bytes` at `offset`, in as many calls as the kernel needs.
    package func writeAll(_ bytes: UnsafeRawBufferPointer, to file: Descriptor, at offset: Int64)
        throws(FileSystemError)
    {
        var done = 0
        while done < bytes.count {
            let count = try write(bytes.slice(done..<bytes.count), to: file, at: offset + Int64(done))
            guard count > 0 else { throw FileSystemError("write", errno: .ioError) }
            done += count
        }
    }

    /// Writes all of `bytes` at `offset`, in as many calls as the kernel needs.
    package func writeAll(_ bytes: [UInt8], to file: Descriptor, at offset: Int64) throws(FileSystemError) {
        try bytes.withBytes { buffer throws(FileSystemError) in
            try writeAll(buffer, to: file, at: offset)
        }
    }

    /// Reads until `buffer` is full or the file ends; returns the number of bytes read.
    package func readAll(_ file: Descriptor, into buffer: UnsafeMutableRawBufferPointer, at offset: Int64)
        throws(FileSystemError) -> Int
    {
        var done = 0
        while done < buffer.count {
            let rest = buffer.slice(done..<buffer.count)
            let count = try read(file, into: rest, at: offset + Int64(done))
            if count == 0 { break }
            done += count
        }
        return done
    }

    /// At most `count` bytes of a file from `offset`; fewer at its end.
    package func bytes(of file: Descriptor, at offset: Int64 = 0, count: Int) throws(FileSystemError)
        -> [UInt8]
    {
        var bytes = [UInt8](repeating: 0, count: count)
        let done = try bytes.withMutableBytes { buffer throws(FileSystemError) in
            try readAll(file, into: buffer, at: offset)
        }
        bytes.removeLast(count - done)
        return bytes
    }

    /// Passes up to `count` bytes of a file, from `start` on, to `body` in pieces of at most 1 MiB, each with its offset.
    package func forEachPiece(
        of file: Descriptor, from start: Int64 = 0, count: Int64 = .max,
        _ body: (UnsafeRawBufferPointer, Int64) throws(FileSystemError) -> Void
    ) throws(FileSystemError) {
        var offset = start
        var buffer = [UInt8](repeating: 0, count: Int(min(count, 1 << 20)))
        while offset - start < count {
            let done = try buffer.withMutableBytes { bytes throws(FileSystemError) in
                let wanted = bytes.slice(0..<Int(min(Int64(bytes.count), count - (offset - start))))
                let done = try readAll(file, into: wanted, at: offset)
                try body(UnsafeRawBufferPointer(wanted.slice(0..<done)), offset)
                return done
            }
            if done == 0 { return }
            offset += Int64(done)
        }
    }

    /// Opens a name, passes the descriptor to `body`, and closes it.
    package func withFile<Result>(
        _ name: FilePath, in directory: Descriptor, _ mode: OpenMode,
        _ body: (Descriptor) throws(FileSystemError) -> Result
    ) throws(FileSystemError) -> Result {
        let file = try open(name, in: directory, mode)
        defer { close(file) }
        return try body(file)
    }

    /// Opens a name, and closes it again, with any lock on it, unless `isKept` returns `true`.
    ///
    /// - Returns: The open file; `nil` if it was closed.
    package func open(
        _ name: FilePath, in directory: Descriptor, _ mode: OpenMode,
        keepingIf isKept: (Descriptor) throws(FileSystemError) -> Bool
    ) throws(FileSystemError) -> Descriptor? {
        let file = try open(name, in: directory, mode)
        do throws(FileSystemError) {
            if try isKept(file) { return file }
        } catch {
            unlock(file)
            throw error
        }
        unlock(file)
        return nil
    }

    /// Takes a lock on an open file, without waiting.
    ///
    /// - Returns: `false` if it is held elsewhere; `true` also where the file system does not support locks.
    package func lockIfSupported(_ file: Descriptor, _ mode: LockMode = .exclusive) throws(FileSystemError)
        -> Bool
    {
        do {
            return try lock(file, mode, waiting: false)
        } catch {
            guard error.isUnsupported else { throw error }
            return true
        }
    }

    /// The whole content of a file of at most `limit` bytes, or `nil` if the file does not exist.
    ///
    /// - Throws: `EFBIG` if the file is longer than `limit`.
    package func contents(of name: FilePath, in directory: Descriptor, limit: Int)
        throws(FileSystemError) -> [UInt8]?
    {
        do {
            return try withFile(name, in: directory, .readWithoutAccessTime) { file throws(FileSystemError) in
                let length = try attributes(of: file).length
                guard length <= Int64(limit) else {
                    throw FileSystemError("read", path: name, errno: .fileTooLarge)
                }
                return try bytes(of: file, count: Int(length))
            }
        } catch {
            if error.isNotFound { return nil }
            throw error
        }
    }

    /// The first `limit` bytes of a file whose attributes do not report its length, such as those in `/proc`.
    package func contents(ofStream name: FilePath, in directory: Descriptor, limit: Int)
        throws(FileSystemError) -> [UInt8]
    {
        try withFile(name, in: directory, .readWithoutAccessTime) { file throws(FileSystemError) in
            try bytes(of: file, count: limit)
        }
    }

    /// Replaces a small file atomically, by writing a temporary file next to it and renaming that. If `durable`, the
    /// content and the folder are synchronised before the call returns.
    package func replaceContents(
        of name: FilePath.Component, in directory: Descriptor, with bytes: [UInt8],
        permissions: FilePermissions, durable: Bool
    ) throws(FileSystemError) {
        let temporary = FilePath(".\(name.string).new")
        if try attributes(of: temporary, in: directory) != nil {
            try unlink(temporary, in: directory)
        }
        try withFile(temporary, in: directory, .createNew(permissions)) { file throws(FileSystemError) in
            do throws(FileSystemError) {
                try writeAll(bytes, to: file, at: 0)
                if durable { try synchronize(file) }
            } catch {
                throw error.naming(FilePath(root: nil, [name]))
            }
        }
        try rename(temporary, in: directory, to: FilePath(root: nil, [name]), in: directory, .replacing)
        if durable { try synchronize(directory) }
    }

    /// Gives the copy of a file what a copy of its content lacks: holes, extended attributes, permissions and times, in this
    /// order, as each changes the last.
    ///
    /// - Parameter isLeft: Which attributes the copy has its own of.
    /// - Throws: Also if the file system of the copy cannot keep an attribute. Holes it may lack.
    package func copyNature(
        of original: Descriptor, to copy: Descriptor, leaving isLeft: (String) -> Bool
    ) throws(FileSystemError) {
        let attributes = try attributes(of: original)
        let accessed = try accessTime(of: original) ?? attributes.modified
        if attributes.allocated < attributes.length {
            try copyHoles(of: original, attributes.length, to: copy)
        }
        for name in try extendedAttributes(of: original) where !isLeft(name) {
            try setExtendedAttribute(name, to: extendedAttribute(name, of: original), of: copy)
        }
        try setPermissions(attributes.permissions, of: copy)
        try setTimes(accessed: accessed, modified: attributes.modified, of: copy)
    }

    private func copyHoles(of original: Descriptor, _ length: Int64, to copy: Descriptor)
        throws(FileSystemError)
    {
        var end: Int64 = 0
        do throws(FileSystemError) {
            while end < length {
                let data = try data(of: original, from: end)
                let hole = end..<(data?.lowerBound ?? length)
                if !hole.isEmpty { try punchHole(hole, in: copy) }
                end = data?.upperBound ?? length
            }
        } catch {
            guard error.isUnsupported else { throw error }
        }
    }
}
