internal import PrefetchFileSystem
internal import PrefetchItemFormat
internal import SystemPackage

/// What the journal of a partial that nobody is writing says about resuming it.
enum Resumability {
    /// It can be resumed until it expires.
    case possible(ResumablePartial, storedBytes: Int64, keptAt: Int64)
    /// A newer version of this package keeps it.
    case newer(UInt16)
    /// It can never be resumed.
    case impossible

    /// - Parameters:
    ///   - chunksLength: The length of the file of the chunks in bytes; 0 when there is none.
    ///   - now: Milliseconds since 1970.
    init(
        _ journal: Descriptor, of hash: KeyHash, chunksLength: Int64, now: Int64,
        in fileSystem: any FileSystem
    ) throws(FileSystemError) {
        self = .impossible
        guard let head = try PartialHead(of: journal, in: fileSystem) else { return }
        do throws(ItemFormatError) {
            var content = try PartialJournal(of: journal, in: fileSystem)
            content.cut(toStoredLength: chunksLength)
            guard content.metadata.key.hash == hash, !content.chunks.isEmpty,
                PartialItem.expiry(keptAt: head.keptAt, now: now, of: content.metadata) > now
            else { return }
            self = .possible(
                ResumablePartial(content), storedBytes: content.storedBytes, keptAt: head.keptAt)
        } catch {
            switch error {
            case .fileSystem(let error): throw error
            case .newerVersion(let version): self = .newer(version)
            default: break
            }
        }
    }
}
