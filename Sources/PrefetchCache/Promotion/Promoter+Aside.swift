internal import FileSystem
internal import ItemFormat
internal import Logging
internal import StorageAreas
internal import SystemPackage

/// Removing files that users may be changing or replacing at that moment.
extension Promoter {
    enum Removal {
        case removed
        /// It is another one, or is being written, and has its name again, or the next free one.
        case putBack(FileName)
        /// Somebody has taken it away.
        case missing
    }

    /// Removes a file that was looked at, unless it was changed or replaced since.
    ///
    /// Its user may save another file under the name at any moment, so what is compared at last is no longer under the
    /// name, but moved aside.
    ///
    /// - Parameters:
    ///   - file: The open file.
    ///   - found: What it was like when it was looked at.
    ///   - aside: A name that nobody else uses, so that nothing is replaced.
    ///   - staging: A folder on the same volume.
    func remove(
        _ file: Descriptor, _ found: FileAttributes, _ name: FileName, in folder: Directory,
        by aside: FilePath, in staging: Directory
    ) throws(FileSystemError) -> Removal {
        do {
            try fileSystem.rename(
                name.path, in: folder.descriptor, to: aside, in: staging.descriptor, .replacing)
        } catch {
            guard error.isNotFound else { throw error }
            return .missing
        }
        var failure: FileSystemError?
        do throws(FileSystemError) {
            // Who has it open from before may write until this says no, and nobody can open it now. Then its times tell.
            if try !fileSystem.isBeingWritten(file),
                try fileSystem.attributes(of: aside, in: staging.descriptor)?.isUnchanged(since: found)
                    ?? false
            {
                try fileSystem.unlink(aside, in: staging.descriptor)
                return .removed
            }
        } catch {
            failure = error
        }
        let place = try putBack(aside, as: name, from: staging, in: folder)
        if let failure { throw failure }
        return place.map(Removal.putBack) ?? .missing
    }

    /// Gives a file that was moved aside its name back, or the next free one when the user has used the name meanwhile.
    ///
    /// - Returns: The name that it has now; `nil` when it is not there any more.
    func putBack(_ aside: FilePath, as name: FileName, from staging: Directory, in folder: Directory)
        throws(FileSystemError) -> FileName?
    {
        var place = name
        var number = 1
        while true {
            do {
                try fileSystem.rename(
                    aside, in: staging.descriptor, to: place.path, in: folder.descriptor, .exclusive)
                try fileSystem.synchronize(folder.descriptor)
                return place
            } catch {
                if error.isNotFound { return nil }
                guard error.errno == .fileExists else { throw error }
            }
            // After a power cut it may still have its old name as well.
            let (moved, found) = (
                try fileSystem.attributes(of: aside, in: staging.descriptor),
                try fileSystem.attributes(of: place.path, in: folder.descriptor)
            )
            if let moved, moved.identity == found?.identity {
                try fileSystem.unlink(aside, in: staging.descriptor)
                return place
            }
            number += 1
            place = name.numbered(number)
        }
    }

    /// Gives a file that a dead process has moved aside its name back. Without the entry its name is unknown, and it
    /// stays where it is. The caller holds the lock of the key.
    func putBack(_ aside: FilePath, _ hash: KeyHash, from staging: Directory) throws(CacheError) {
        guard var entry = try ledger.entry(for: hash), let folder = try existingFolder(of: entry),
            let name = try onDestination(
                entry,
                { () throws(FileSystemError) in
                    try putBack(aside, as: entry.name, from: staging, in: folder)
                })
        else { return }
        entry.name = name
        environment.logger.notice(
            "A file that was about to be purged is back.", metadata: ["path": "\(path(of: entry))"])
    }
}

extension FileAttributes {
    /// Whether these are the attributes of the same file, with the content that it had.
    func isUnchanged(since earlier: FileAttributes) -> Bool {
        identity == earlier.identity && modified == earlier.modified && length == earlier.length
    }
}
