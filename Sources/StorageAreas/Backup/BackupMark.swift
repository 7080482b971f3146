public import FileSystem
internal import SystemPackage

/// Puts the "do not back up" mark on open files and folders, takes it off, and reads it.
///
/// The mark is guidance to backup programs, not a guarantee, and some ways of saving a file lose it.
/// An app that excludes a file from backups has to check the mark and put it on again.
public struct BackupMark: Sendable {
    let fileSystem: any FileSystem

    public init(fileSystem: any FileSystem) {
        self.fileSystem = fileSystem
    }

    /// Puts the mark on for ``BackupPolicy/exclude`` and takes it off for ``BackupPolicy/include``.
    ///
    /// Nothing is written to a file without a mark that shall have none.
    ///
    /// - Throws: For `exclude`, `ENOTSUP`, `ENOTTY` or `EINVAL` when the file system has no place for
    ///   a mark, and then nothing was done; any other error of the calls.
    public func set(_ policy: BackupPolicy, on file: Descriptor) throws(FileSystemError) {
        switch policy {
        case .include: try unmark(file)
        case .exclude: try mark(file)
        }
    }

    /// ``BackupPolicy/exclude`` when the mark is there. A file system without a place for marks holds
    /// none.
    public func policy(of file: Descriptor) throws(FileSystemError) -> BackupPolicy {
        try isMarked(file) ? .exclude : .include
    }

    /// The result of a call, or `nil` when the file system cannot do such a thing at all.
    func ifSupported<Result>(_ call: () throws(FileSystemError) -> Result)
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
