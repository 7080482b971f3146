internal import FileSystem
internal import ItemFormat
internal import SystemPackage

/// Reading an item while it is handed over: one that is renamed is in the cache no longer, and not yet under its name.
extension Promoter {
    /// Opens the staged file of an intent or, when that has its name already, the file under the name. The first
    /// bytes, as many as the content has, are the content: it is verified, since after a crash a staged file may be
    /// torn, and the name may be that of somebody else's file.
    ///
    /// - Returns: `nil` when the content is in neither place.
    func openUnderWay(_ intent: LedgerEntry) throws(CacheError) -> Descriptor? {
        try findUnderWay(intent) { name, folder throws(FileSystemError) in
            try openVerified(name, of: intent, in: folder)
        }
    }

    /// Whether there is content to read, as far as lengths tell: it may be long, and is verified when it is read.
    func isUnderWay(_ intent: LedgerEntry) throws(CacheError) -> Bool {
        let found = try findUnderWay(intent) { name, folder throws(FileSystemError) -> FileAttributes? in
            let file = try fileSystem.attributes(of: name, in: folder.descriptor)
            // The footer may not be cut off yet.
            return file?.kind == .regular && file?.length ?? 0 >= intent.contentLength ? file : nil
        }
        return found != nil
    }

    private func findUnderWay<Found>(
        _ intent: LedgerEntry, _ look: (FilePath, Directory) throws(FileSystemError) -> Found?
    ) throws(CacheError) -> Found? {
        func find(_ name: FilePath, in folder: Directory) throws(CacheError) -> Found? {
            do {
                return try look(name, folder)
            } catch {
                guard error.isNotFound || error.isNoRegularFile || error.isRefusedName else {
                    throw .fileSystem(error)
                }
                return nil
            }
        }
        let staging = try onFiles { () throws(FileSystemError) in try support.stagingFolders() }
        for folder in staging {
            if let found = try find(FilePath(intent.stagedName), in: folder) { return found }
        }
        guard let folder = try existingFolder(of: intent) else { return nil }
        return try find(intent.name.path, in: folder)
    }

    private func openVerified(_ name: FilePath, of intent: LedgerEntry, in folder: Directory)
        throws(FileSystemError) -> Descriptor?
    {
        let file = try fileSystem.open(name, in: folder.descriptor, .read)
        do {
            var checksum = ContentChecksum()
            try fileSystem.forEachPiece(of: file, count: intent.contentLength) { piece, _ in
                checksum.update(piece)
            }
            if checksum.finalize() == intent.contentChecksum { return file }
        } catch {
            fileSystem.close(file)
            throw error
        }
        fileSystem.close(file)
        return nil
    }
}
