public import FileSystem
internal import SystemPackage

/// Sets, removes and reads the "do not back up" mark of open files and folders.
///
/// The mark is guidance to backup programs, not a guarantee, and some ways of saving a file lose it.
/// An app that excludes a file from backups has to check the mark and set it again.
public struct BackupMark: Sendable {
    let fileSystem: any FileSystem

    /// Creates a value that marks files of `fileSystem`.
    public init(fileSystem: any FileSystem) {
        self.fileSystem = fileSystem
    }

    /// Sets the mark for ``BackupPolicy/exclude`` and removes it for ``BackupPolicy/include``.
    ///
    /// A file that has no mark and needs none is not written to.
    ///
    /// - Throws: For `exclude`, `ENOTSUP`, `ENOTTY` or `EINVAL` when the file system does not support
    ///   marks, with nothing changed; any other error of the calls.
    public func set(_ policy: BackupPolicy, on file: Descriptor) throws(FileSystemError) {
        switch policy {
        case .include: try unmark(file)
        case .exclude: try mark(file)
        }
    }

    /// ``BackupPolicy/exclude`` when the file has the mark. A file system that does not support marks
    /// has none.
    public func policy(of file: Descriptor) throws(FileSystemError) -> BackupPolicy {
        try isMarked(file) ? .exclude : .include
    }

    /// The result of a call, or `nil` when the file system does not support it.
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
