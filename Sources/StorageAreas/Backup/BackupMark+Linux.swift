#if !canImport(Darwin)
    internal import FileSystem

    /// Linux has no mark that every backup program honours. Two are in use, and a file gets both: the
    /// inode's no-dump flag and the extended attribute that freedesktop.org proposes. Either counts as
    /// the mark, since a file system may support only one of them.
    extension BackupMark {
        static let attribute = "user.xdg.robots.backup"
        /// The other value, `true`, asks for a backup, as does an absent attribute.
        static let excluded = Array("false".utf8)

        func mark(_ file: Descriptor) throws(FileSystemError) {
            let isFlagged =
                try ifSupported { () throws(FileSystemError) in
                    try fileSystem.setNoDump(true, of: file)
                } != nil
            do {
                try fileSystem.setExtendedAttribute(Self.attribute, to: Self.excluded, of: file)
            } catch {
                guard isFlagged, error.isUnsupported else { throw error }
            }
        }

        func unmark(_ file: Descriptor) throws(FileSystemError) {
            if try hasFlag(file) { try fileSystem.setNoDump(false, of: file) }
            if try hasAttribute(file) {
                try fileSystem.setExtendedAttribute(Self.attribute, to: nil, of: file)
            }
        }

        func isMarked(_ file: Descriptor) throws(FileSystemError) -> Bool {
            if try hasFlag(file) { return true }
            return try hasAttribute(file)
        }

        private func hasFlag(_ file: Descriptor) throws(FileSystemError) -> Bool {
            try ifSupported { () throws(FileSystemError) in try fileSystem.isNoDump(file) } ?? false
        }

        private func hasAttribute(_ file: Descriptor) throws(FileSystemError) -> Bool {
            let value = try ifSupported { () throws(FileSystemError) in
                try fileSystem.extendedAttribute(Self.attribute, of: file)
            }
            return value == Self.excluded
        }
    }
#endif
