internal import SystemPackage

#if canImport(Darwin)
    internal import Darwin
#else
    internal import Glibc
#endif

extension LiveFileSystem {
    package func setAccessTime(_ time: Int64, of file: Descriptor) throws(FileSystemError) {
        _ = try Platform.retrying("futimens") { Platform.setAccessTime(file.rawValue, time) }
    }

    package func setTimes(accessed: Int64, modified: Int64, of file: Descriptor) throws(FileSystemError) {
        let times = [accessed, modified].map { time in
            let (seconds, nanoseconds) = Platform.parts(ofNanoseconds: time)
            return timespec(tv_sec: time_t(seconds), tv_nsec: Int(nanoseconds))
        }
        _ = try Platform.retrying("futimens") { futimens(file.rawValue, times) }
    }

    package func data(of file: Descriptor, from offset: Int64) throws(FileSystemError) -> Range<Int64>? {
        let length = try attributes(of: file).length
        guard offset < length else { return nil }
        do {
            func seek(_ offset: Int64, _ way: CInt) throws(FileSystemError) -> Int64 {
                Int64(try Platform.retrying("lseek") { lseek(file.rawValue, off_t(offset), way) })
            }
            let start = try seek(offset, Platform.seekData)
            return start..<(try seek(start, Platform.seekHole))
        } catch {
            // Only a hole follows.
            if error.errno == .noSuchAddressOrDevice { return nil }
            guard error.isUnsupported else { throw error }
            return offset..<length
        }
    }

    package func punchHole(_ range: Range<Int64>, in file: Descriptor) throws(FileSystemError) {
        _ = try Platform.retrying("fallocate") {
            Platform.punchHole(file.rawValue, range.lowerBound, Int64(range.count))
        }
    }

    package func extendedAttributes(of file: Descriptor) throws(FileSystemError) -> [String] {
        // Linux limits all names together to 64 KiB (XATTR_LIST_MAX).
        var names = [UInt8](repeating: 0, count: 1 << 16)
        let count: Int
        do {
            count = try names.withMutableBytes { buffer throws(FileSystemError) in
                try Platform.retrying("flistxattr") { Platform.listAttributes(file.rawValue, buffer) }
            }
        } catch {
            guard error.isUnsupported else { throw error }
            return []
        }
        return names.prefix(count).split(separator: 0).map { String(decoding: $0, as: UTF8.self) }
            .filter(Platform.isOfUser)
    }
}

extension FileSystem {
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
