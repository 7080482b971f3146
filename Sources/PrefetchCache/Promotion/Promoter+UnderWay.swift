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
        let staging = try onFiles { () throws(FileSystemError) in try support.stagingFolders() }
        for folder in staging {
            if let file = try openVerified(FilePath(intent.stagedName), of: intent, in: folder) {
                return file
            }
        }
        guard let folder = try existingFolder(of: intent) else { return nil }
        return try openVerified(intent.name.path, of: intent, in: folder)
    }

    private func openVerified(_ name: FilePath, of intent: LedgerEntry, in folder: Directory)
        throws(CacheError) -> Descriptor?
    {
        let file: Descriptor
        do {
            file = try fileSystem.open(name, in: folder.descriptor, .read)
        } catch {
            guard error.isNotFound || error.isNoRegularFile || error.isRefusedName else {
                throw .fileSystem(error)
            }
            return nil
        }
        do throws(FileSystemError) {
            var checksum = ContentChecksum()
            try fileSystem.forEachPiece(of: file, count: intent.contentLength) { piece, _ in
                checksum.update(piece)
            }
            if checksum.finalize() == intent.contentChecksum { return file }
        } catch {
            fileSystem.close(file)
            throw .fileSystem(error)
        }
        fileSystem.close(file)
        return nil
    }
}
