#if canImport(Darwin)
    internal import FileSystem

    /// The mark is the attribute behind `URLResourceValues.isExcludedFromBackup`, written through the
    /// file-system seam.
    ///
    /// - Note: Not yet run on an Apple platform.
    extension BackupMark {
        static let attribute = "com.apple.metadata:com_apple_backup_excludeItem"

        /// The string `com.apple.MobileBackup` as a binary property list.
        static let excluded: [UInt8] = {
            let text = Array("com.apple.MobileBackup".utf8)
            let header = Array("bplist00".utf8)
            // An ASCII string (0x5F) whose length follows as an integer of one byte (0x10).
            let object = [0x5F, 0x10, UInt8(text.count)] + text
            let offsetTable = [UInt8(header.count)]
            let trailer: [UInt8] =
                [0, 0, 0, 0, 0, 0, 1, 1]  // bytes per offset and per reference
                + [0, 0, 0, 0, 0, 0, 0, 1]  // number of objects
                + [0, 0, 0, 0, 0, 0, 0, 0]  // the root is object 0
                + [0, 0, 0, 0, 0, 0, 0, UInt8(header.count + object.count)]  // where the offset table is
            return header + object + offsetTable + trailer
        }()

        func mark(_ file: Descriptor) throws(FileSystemError) {
            try fileSystem.setExtendedAttribute(Self.attribute, to: Self.excluded, of: file)
        }

        func unmark(_ file: Descriptor) throws(FileSystemError) {
            if try isMarked(file) {
                try fileSystem.setExtendedAttribute(Self.attribute, to: nil, of: file)
            }
        }

        /// Any value counts as the mark: Time Machine writes `com.apple.backupd`.
        func isMarked(_ file: Descriptor) throws(FileSystemError) -> Bool {
            let value = try ifSupported { () throws(FileSystemError) in
                try fileSystem.extendedAttribute(Self.attribute, of: file)
            }
            return (value ?? nil) != nil
        }
    }
#endif
