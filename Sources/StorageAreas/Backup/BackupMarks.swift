package import FileSystem

/// The individual marks by which backup programs leave out an open file or folder. ``BackupMark`` sets those of
/// this platform, and reports whether any of them is present.
package struct BackupMarks: OptionSet, Hashable, Sendable {
    package let rawValue: UInt8

    package init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// The inode's flag (`chattr +d`, `UF_NODUMP`).
    package static let noDump = BackupMarks(rawValue: 1)
    /// `user.xdg.robots.backup` with the value `false`.
    package static let xdgAttribute = BackupMarks(rawValue: 2)
    /// The attribute behind `URLResourceValues.isExcludedFromBackup`. On other systems, where a copy of a
    /// container may have kept it, its name begins with `user.`.
    package static let appleAttribute = BackupMarks(rawValue: 4)

    /// Reads the marks. One that the file system does not support counts as absent.
    package init(of file: Descriptor, in fileSystem: any FileSystem) throws(FileSystemError) {
        let mark = BackupMark(fileSystem: fileSystem)
        func attribute(_ name: String) throws(FileSystemError) -> [UInt8]? {
            try mark.ifSupported { () throws(FileSystemError) in
                try fileSystem.extendedAttribute(name, of: file)
            } ?? nil
        }
        self = []
        let isNoDump = try mark.ifSupported { () throws(FileSystemError) in try fileSystem.isNoDump(file) }
        if isNoDump == true { insert(.noDump) }
        if try attribute(Self.xdgName) == Array("false".utf8) { insert(.xdgAttribute) }
        if try attribute(Self.appleName) != nil { insert(.appleAttribute) }
    }

    #if canImport(Darwin)
        private static let xdgName = "xdg.robots.backup"
        private static let appleName = BackupMark.attribute
    #else
        private static let xdgName = BackupMark.attribute
        private static let appleName = "user.com.apple.metadata:com_apple_backup_excludeItem"
    #endif
}
