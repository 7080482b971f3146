package import PrefetchFileSystem
package import SystemPackage

#if canImport(Darwin)
    internal import Foundation
#endif

/// Sets, removes and reads the "do not back up" mark of open files and folders.
///
/// The mark is advisory for backup programs, and some ways of saving a file lose it. An app that excludes a file from
/// backups has to check the mark and restore it.
package struct BackupMark: Sendable {
    let fileSystem: any FileSystem

    /// Creates an instance for files of `fileSystem`.
    package init(fileSystem: any FileSystem) {
        self.fileSystem = fileSystem
    }

    /// Sets the mark for ``BackupPolicy/exclude`` and removes it for ``BackupPolicy/include``.
    ///
    /// Does not write to a file that already has no mark when removing it.
    ///
    /// - Throws: For `exclude`, `ENOTSUP`, `ENOTTY` or `EINVAL` if the file system does not support marks, with nothing
    ///   changed; any other error of the system calls.
    package func set(_ policy: BackupPolicy, on file: Descriptor) throws(FileSystemError) {
        switch policy {
        case .include: try unmark(file)
        case .exclude: try mark(file)
        }
    }

    /// ``BackupPolicy/exclude`` if the file has the mark. Files have no mark on a file system that does not support
    /// marks.
    package func policy(of file: Descriptor) throws(FileSystemError) -> BackupPolicy {
        try isMarked(file) ? .exclude : .include
    }

    #if canImport(Darwin)
        /// The freedesktop.org attribute, which excludes a file if it is `false`.
        package static let xdgAttribute = "xdg.robots.backup"
        /// The attribute behind `URLResourceValues.isExcludedFromBackup`.
        package static let appleAttribute = "com.apple.metadata:com_apple_backup_excludeItem"
    #else
        /// The freedesktop.org attribute, which excludes a file if it is `false`.
        package static let xdgAttribute = "user.xdg.robots.backup"
        /// The attribute behind `URLResourceValues.isExcludedFromBackup`, which may survive in a copy of a container.
        package static let appleAttribute = "user.com.apple.metadata:com_apple_backup_excludeItem"
    #endif

    /// Whether an extended attribute is a mark.
    package static func isMark(_ attribute: String) -> Bool {
        attribute == xdgAttribute || attribute == appleAttribute
    }

    /// The value of ``xdgAttribute`` that excludes a file. `true` includes it, as does a missing attribute.
    package static let xdgExcluded = Array("false".utf8)

    /// Whether a file has the no-dump flag; `false` if the file system does not support it.
    package func isNoDump(_ file: Descriptor) throws(FileSystemError) -> Bool {
        try ifSupported { () throws(FileSystemError) in try fileSystem.isNoDump(file) } ?? false
    }

    /// An extended attribute of a file; `nil` if missing, or if the file system does not support attributes.
    package func attribute(_ name: String, of file: Descriptor) throws(FileSystemError) -> [UInt8]? {
        try ifSupported { () throws(FileSystemError) in
            try fileSystem.extendedAttribute(name, of: file)
        } ?? nil
    }

    /// Whether a file without a mark can get one, found out by the removal of what it does not have.
    package func isChangeable(on file: Descriptor) throws(FileSystemError) -> Bool {
        do {
            // What it has instead of the mark can be replaced, or will be when it is read.
            guard try fileSystem.extendedAttribute(Self.attribute, of: file) == nil else { return true }
            try fileSystem.setExtendedAttribute(Self.attribute, to: nil, of: file)
            return true
        } catch {
            guard error.isUnsupported || error.isNotPermitted else { throw error }
        }
        #if !canImport(Darwin)
            do {
                try fileSystem.setNoDump(false, of: file)
                return true
            } catch {
                guard error.isUnsupported || error.isNotPermitted else { throw error }
            }
        #endif
        return false
    }

    /// The result of a call, or `nil` if the file system does not support it.
    private func ifSupported<Result>(_ call: () throws(FileSystemError) -> Result)
        throws(FileSystemError) -> Result?
    {
        do {
            return try call()
        } catch {
            guard error.isUnsupported else { throw error }
            return nil
        }
    }
}

#if !canImport(Darwin)
    /// Linux has no mark that all backup programs honour. Files get the two in use: the inode's no-dump flag and the
    /// extended attribute proposed by freedesktop.org. Either counts as the mark, since a file system may support only
    /// one of them.
    extension BackupMark {
        static let attribute = xdgAttribute

        private func mark(_ file: Descriptor) throws(FileSystemError) {
            let isFlagged =
                try ifSupported { () throws(FileSystemError) in
                    try fileSystem.setNoDump(true, of: file)
                } != nil
            do {
                try fileSystem.setExtendedAttribute(Self.attribute, to: Self.xdgExcluded, of: file)
            } catch {
                guard isFlagged, error.isUnsupported else { throw error }
            }
        }

        private func unmark(_ file: Descriptor) throws(FileSystemError) {
            if try isNoDump(file) { try fileSystem.setNoDump(false, of: file) }
            if try hasAttribute(file) {
                try fileSystem.setExtendedAttribute(Self.attribute, to: nil, of: file)
            }
        }

        private func isMarked(_ file: Descriptor) throws(FileSystemError) -> Bool {
            if try isNoDump(file) { return true }
            return try hasAttribute(file)
        }

        private func hasAttribute(_ file: Descriptor) throws(FileSystemError) -> Bool {
            try attribute(Self.attribute, of: file) == Self.xdgExcluded
        }
    }
#else
    /// The mark is `URLResourceValues.isExcludedFromBackup`. What it does to a file is known (an extended attribute, which
    /// QA1719 advises against writing by hand), and read back through the open file.
    ///
    /// - Note: Not yet tested on an Apple platform.
    extension BackupMark {
        static let attribute = appleAttribute

        /// The string `com.apple.MobileBackup` as a binary property list.
        private static let excluded: [UInt8] = {
            let text = Array("com.apple.MobileBackup".utf8)
            let header = Array("bplist00".utf8)
            // An ASCII string (0x5F), followed by its length as a one-byte integer (0x10).
            let object = [0x5F, 0x10, UInt8(text.count)] + text
            let offsetTable = [UInt8(header.count)]
            let trailer: [UInt8] =
                [0, 0, 0, 0, 0, 0, 1, 1]  // bytes per offset and per reference
                + [0, 0, 0, 0, 0, 0, 0, 1]  // number of objects
                + [0, 0, 0, 0, 0, 0, 0, 0]  // the root is object 0
                + [0, 0, 0, 0, 0, 0, 0, UInt8(header.count + object.count)]  // where the offset table is
            return header + object + offsetTable + trailer
        }()

        private func mark(_ file: Descriptor) throws(FileSystemError) {
            if try setThroughFoundation(true, file), try isMarked(file) { return }
            try fileSystem.setExtendedAttribute(Self.attribute, to: Self.excluded, of: file)
        }

        private func unmark(_ file: Descriptor) throws(FileSystemError) {
            guard try isMarked(file) else { return }
            if try setThroughFoundation(false, file), try !isMarked(file) { return }
            try fileSystem.setExtendedAttribute(Self.attribute, to: nil, of: file)
        }

        /// - Returns: Whether it was set, on whatever has the path of the file now: that may be another one.
        private func setThroughFoundation(_ isExcluded: Bool, _ file: Descriptor) throws(FileSystemError)
            -> Bool
        {
            guard let path = try (fileSystem as? LiveFileSystem)?.path(of: file) else { return false }
            var url = URL(filePath: path.string)
            var values = URLResourceValues()
            values.isExcludedFromBackup = isExcluded
            do {
                try url.setResourceValues(values)
                return true
            } catch {
                return false
            }
        }

        /// Any value counts as the mark: Time Machine writes `com.apple.backupd`.
        private func isMarked(_ file: Descriptor) throws(FileSystemError) -> Bool {
            try attribute(Self.attribute, of: file) != nil
        }
    }
#endif

/// The file `CACHEDIR.TAG`, which tells restic, Borg, GNU tar and others that a folder is a cache and need not be
/// backed up.
package enum CacheDirectoryTag {
    package static let name: FilePath = "CACHEDIR.TAG"
    /// The first 43 bytes, which identify the file.
    package static let signature = Array("Signature: 8a477f597d28d172789f06886806bc55".utf8)

    private static let contents =
        signature
        + Array(
            """

            # This folder holds a cache: its files can be downloaded again and need no backup.
            # For information about cache directory tags see https://bford.info/cachedir/

            """.utf8)

    /// Creates the tag in a folder unless the name exists, which costs one `fstatat`.
    ///
    /// - Parameter flushing: Whether its content is made durable.
    /// - Throws: The error of the call that failed. A partially written tag is removed.
    package static func ensure(
        in directory: Descriptor, of fileSystem: any FileSystem, flushing: Bool = false
    ) throws(FileSystemError) {
        guard try fileSystem.attributes(of: name, in: directory) == nil else { return }
        let file: Descriptor
        do {
            file = try fileSystem.open(name, in: directory, .createNew(.ownerReadWrite))
        } catch {
            // Another process created it first, or nothing can be created that it would be for.
            if error.errno == .fileExists || error.isReadOnlyVolume { return }
            throw error
        }
        defer { fileSystem.close(file) }
        do {
            try fileSystem.writeAll(contents, to: file, at: 0)
            if flushing { try fileSystem.synchronize(file) }
        } catch {
            try fileSystem.unlink(name, in: directory)
            throw error
        }
    }

    /// Whether a folder has a valid tag: a regular file that begins with the signature. A symbolic link is none, as the
    /// specification says, although some programs follow it.
    package static func isTagged(_ directory: Descriptor, of fileSystem: any FileSystem)
        throws(FileSystemError) -> Bool
    {
        guard try fileSystem.attributes(of: name, in: directory)?.kind == .regular else { return false }
        return try fileSystem.withFile(name, in: directory, .readWithoutAccessTime) {
            file throws(FileSystemError) in
            try fileSystem.bytes(of: file, count: signature.count) == signature
        }
    }
}
