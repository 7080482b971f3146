internal import FileSystem
internal import ItemFormat
internal import Logging
internal import SystemPackage

/// Files of the user's that were moved aside to be looked at.
extension Promoter {
    /// Gives a file its name back, or the next free one when the user has used the name meanwhile.
    ///
    /// - Returns: The entry with the name that the file has now.
    func putBack(_ aside: FilePath, of entry: LedgerEntry, from staging: Directory, in folder: Directory)
        throws(CacheError) -> LedgerEntry
    {
        var place = entry
        var number = 1
        while true {
            do throws(FileSystemError) {
                try fileSystem.rename(
                    aside, in: staging.descriptor, to: place.name.path, in: folder.descriptor, .exclusive)
                try fileSystem.synchronize(folder.descriptor)
                return place
            } catch {
                guard error.errno == .fileExists else { throw .destination(path(of: place), error) }
            }
            // After a power cut it may still have its old name as well.
            let (moved, found) = (
                try attributes(of: aside, in: staging), try attributes(of: place, in: folder)
            )
            if let moved, moved.identity == found?.identity {
                try discard(aside, in: staging)
                return place
            }
            number += 1
            place.name = entry.name.numbered(number)
        }
    }

    /// Gives a file that a dead process has moved aside its name back. Without the entry its name is unknown, and it
    /// stays where it is. The caller holds the lock of the key.
    func putBack(_ aside: FilePath, _ hash: KeyHash, from staging: Directory) throws(CacheError) {
        guard try attributes(of: aside, in: staging) != nil,
            let entry = try ledger.entry(for: hash),
            let folder = try existingFolder(of: entry)
        else { return }
        let place = try putBack(aside, of: entry, from: staging, in: folder)
        environment.logger.notice(
            "A file that was about to be purged is back.", metadata: ["path": "\(path(of: place))"])
    }
}
