internal import PrefetchFileSystem
internal import PrefetchItemFormat
internal import PrefetchStorageAreas
internal import SystemPackage

/// Removes what the user may be changing or replacing at the same moment: a file, or the folder of a bundle.
struct CautiousRemoval {
    let fileSystem: any FileSystem

    enum Removal {
        case removed
        /// It is another file, or is being written, and has its name back, or the next free one.
        case putBack(FileName)
        /// It was moved or deleted.
        case missing
    }

    /// Removes a file that was inspected, unless it was changed or replaced since.
    ///
    /// The user may save another file under the name at any moment, so the file is moved aside before the final
    /// comparison.
    ///
    /// - Parameters:
    ///   - file: The open file; `nil` for one that cannot be opened.
    ///   - found: Its attributes when it was inspected.
    ///   - aside: A unique name, so that nothing is replaced.
    ///   - staging: A folder on the same volume.
    ///   - isInUse: Whether it was used since. Asked when nobody finds it any longer.
    func remove(
        _ file: Descriptor?, _ found: FileAttributes, _ name: FileName, in folder: Directory,
        by aside: FilePath, in staging: Directory, unless isInUse: () -> Bool = { false }
    ) throws(FileSystemError) -> Removal {
        try remove(name, in: folder, by: aside, in: staging) { () throws(FileSystemError) in
            guard try isStill(file, found, at: aside, in: staging), !isInUse() else { return false }
            try fileSystem.unlink(aside, in: staging.descriptor)
            return true
        }
    }

    /// Whether a file that was moved aside is as it was when it was inspected, and nobody is writing to it.
    ///
    /// Nothing can open it there; earlier writers may write until the system says no, and then its times tell.
    func isStill(_ file: Descriptor?, _ found: FileAttributes, at aside: FilePath, in staging: Directory)
        throws(FileSystemError) -> Bool
    {
        if let file, try fileSystem.isBeingWritten(file) == true { return false }
        return try fileSystem.attributes(of: aside, in: staging.descriptor)?.isUnchanged(since: found)
            ?? false
    }

    /// As ``isStill(_:_:at:in:)-(Descriptor?,_,_,_)``, of the folder of a bundle.
    func isStill(_ bundle: BundleFolder, _ found: [FileAttributes], at aside: FilePath, in staging: Directory)
        throws(FileSystemError) -> Bool
    {
        let identity = try fileSystem.attributes(of: bundle.folder).identity
        guard try fileSystem.attributes(of: aside, in: staging.descriptor)?.identity == identity,
            try bundle.forEachFile({ file, _ throws(FileSystemError) in
                try fileSystem.isBeingWritten(file) != true
            }),
            let now = try bundle.photograph(), now.count == found.count
        else { return false }
        return zip(now, found).allSatisfy { $0.isUnchanged(since: $1) }
    }

    /// Removes the folder of a bundle, as ``remove(_:_:_:in:by:in:unless:)`` does a file.
    ///
    /// - Parameters:
    ///   - bundle: The open folder.
    ///   - found: Its photograph when it was inspected.
    ///   - leftover: A unique name that recovery removes: from the moment that the folder has it, nothing brings the folder
    ///     back, so that it is never there in part.
    func remove(
        _ bundle: BundleFolder, _ found: [FileAttributes], _ name: FileName, in folder: Directory,
        by aside: FilePath, and leftover: FilePath, in staging: Directory,
        unless isInUse: () -> Bool = { false }
    ) throws(FileSystemError) -> Removal {
        try remove(name, in: folder, by: aside, in: staging) { () throws(FileSystemError) in
            guard try isStill(bundle, found, at: aside, in: staging), !isInUse() else { return false }
            // Each name is durable before the next: after a power cut, the folder must not be back and lack files.
            try fileSystem.synchronize(staging.descriptor)
            try fileSystem.synchronize(folder.descriptor)
            try fileSystem.rename(
                aside, in: staging.descriptor, to: leftover, in: staging.descriptor, .exclusive)
            do throws(FileSystemError) {
                try fileSystem.synchronize(staging.descriptor)
            } catch {
                // After a power cut it may have the other name, and is to have been put back before that.
                try fileSystem.rename(
                    leftover, in: staging.descriptor, to: aside, in: staging.descriptor, .exclusive)
                throw error
            }
            try fileSystem.removeTree(leftover, in: staging.descriptor)
            return true
        }
    }

    /// - Parameter removeIfUnchanged: Compares and removes what has the name `aside` now; returns whether it did.
    private func remove(
        _ name: FileName, in folder: Directory, by aside: FilePath, in staging: Directory,
        _ removeIfUnchanged: () throws(FileSystemError) -> Bool
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
            if try removeIfUnchanged() { return .removed }
        } catch {
            failure = error
        }
        let place = try putBack(aside, as: name, from: staging, in: folder)
        if let failure { throw failure }
        return place.map(Removal.putBack) ?? .missing
    }

    /// Restores the name of a file that was moved aside, or uses the next free one if the name was taken meanwhile.
    ///
    /// - Returns: The name that it has now; `nil` when it is not there any more.
    func putBack(_ aside: FilePath, as name: FileName, from staging: Directory, in folder: Directory)
        throws(FileSystemError) -> FileName?
    {
        // If this process is killed before the flush, the name looks durable but is not. Recovery flushes both folders before
        // it removes a leftover of the key, so one exists until then.
        let leftover = try makeLeftover(for: aside, in: staging)
        let place = try rename(aside, from: staging, backTo: name, in: folder)
        if place != nil { try fileSystem.synchronizeMove(from: staging, to: folder) }
        if let leftover { try fileSystem.unlink(leftover, in: staging.descriptor) }
        return place
    }

    private func makeLeftover(for aside: FilePath, in staging: Directory) throws(FileSystemError) -> FilePath?
    {
        guard let name = aside.lastComponent.flatMap(CacheLayout.stagedName(ofAside:)) else { return nil }
        let leftover = FilePath(root: nil, [name])
        do {
            let mode = OpenMode.createIfMissing(CacheLayout.filePermissions)
            fileSystem.close(try fileSystem.open(leftover, in: staging.descriptor, mode))
            return leftover
        } catch {
            // On a full volume the user gets the file back nevertheless.
            guard error.isOutOfSpace else { throw error }
            return nil
        }
    }

    private func rename(
        _ aside: FilePath, from staging: Directory, backTo name: FileName, in folder: Directory
    ) throws(FileSystemError) -> FileName? {
        var place = name
        var number = 1
        while true {
            do {
                try fileSystem.rename(
                    aside, in: staging.descriptor, to: place.path, in: folder.descriptor, .exclusive)
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
}

extension FileAttributes {
    /// Whether these are the attributes of the same, unchanged file.
    func isUnchanged(since earlier: FileAttributes) -> Bool {
        identity == earlier.identity && modified == earlier.modified && length == earlier.length
    }
}
