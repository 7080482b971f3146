internal import FileSystem
internal import ItemFormat
internal import StorageAreas
internal import SystemPackage

/// Where an item is about to go.
struct PromotionPlace {
    let folder: Directory
    /// The path of `folder` in its area.
    let path: FolderPath?
    /// A folder on the volume of `folder`.
    let staging: Directory
    /// Whether an item can be renamed into `staging`.
    let isOnVolumeOfItems: Bool
}

/// The checks of an item before anything changes.
extension Promoter {
    /// Checks the footer and the key of an open item.
    func reader(of file: Descriptor, for key: ItemKey) throws(CacheError) -> Lookup<ItemReader> {
        let reader: ItemReader
        do throws(ItemFormatError) {
            reader = try ItemReader(file, of: fileSystem, codecs: codecs)
            guard reader.footer.metadata.key == key else { throw ItemFormatError.damaged(.key) }
        } catch {
            return .miss(try Miss(error))
        }
        if reader.footer.metadata.hasExpired(at: environment.now) { return .miss(.expired) }
        return .hit(reader)
    }

    /// Opens the folders that an item needs, and creates those that are missing.
    ///
    /// - Parameter held: The keys whose locks the caller holds. Nothing is staged for them yet.
    func place(for target: Destination, holding held: [KeyHash]) throws(CacheError) -> PromotionPlace {
        var path = target.folder
        let folder = try destination(in: target.area, &path)
        let staging = try stagingFolder(for: folder, target.area, path)
        if path != nil, staging !== support.staging {
            try Recovery(self).sweep(staging, holding: held)
        }
        let items = folders.current.items
        let isOnOneVolume = try onFiles { () throws(FileSystemError) in
            try support.isOneVolume(items, staging)
        }
        return PromotionPlace(
            folder: folder, path: path, staging: staging, isOnVolumeOfItems: isOnOneVolume)
    }

    /// The bytes of content that opening an item writes to the volume of the items; `nil` when they go to another
    /// volume, the item cannot be opened at all, or this process has entered its intent: the rest makes way for itself.
    func bytesToOpen(_ key: ItemKey, _ file: Descriptor) throws(CacheError) -> Int64? {
        guard case .hit(let reader) = try reader(of: file, for: key) else { return nil }
        guard try isOnVolumeOfItems(reader.footer.metadata.destination),
            try ledger.entry(for: key)?.stagedName.contains(environment.session) != true
        else { return nil }
        return reader.footer.encoding == .identity ? 0 : reader.footer.contentLength
    }

    func isOnVolumeOfItems(_ target: Destination) throws(CacheError) -> Bool {
        let folder: Directory
        var path = target.folder
        do {
            folder = try destination(in: target.area, &path)
        } catch {
            // For want of the room that is asked about.
            guard error.isOutOfSpace else { throw error }
            folder = support.staging
        }
        return try admission.watch.isOnVolumeOfItems(folder)
    }

    /// The intent to promote an item, and the attributes of its file.
    func intent(_ footer: ItemFooter, of file: Descriptor, to place: PromotionPlace)
        throws(CacheError) -> (entry: LedgerEntry, item: FileAttributes)
    {
        let key = footer.metadata.key
        let target = footer.metadata.destination
        let item = try attributes(of: file)
        // A file with a second name must not be cut under that name.
        let isRenamed = footer.encoding == .identity && place.isOnVolumeOfItems && item.linkCount == 1
        let entry = LedgerEntry(
            key: key, state: .intent, mode: isRenamed ? .rename : .decode,
            area: target.area, folder: place.path, name: target.name,
            plainName: target.name, backup: target.backup, contentLength: footer.contentLength,
            contentChecksum: footer.contentChecksum, stagedName: nextStagedName(key),
            inode: item.identity.inode, birthTime: isRenamed ? try birthTime(of: file) : nil,
            openedAt: environment.now())
        return (entry, item)
    }

    /// A destination that refuses a file must do so before anything changes.
    func requireWritable(_ place: PromotionPlace, in target: Destination) throws(CacheError) {
        do throws(FileSystemError) {
            try fileSystem.requireWritable(place.folder.descriptor)
        } catch {
            throw .destination(path(of: target), error)
        }
    }

    /// An item in staging can no longer be read from the cache, so a destination that refuses it must do so
    /// before that.
    func requireWritable(_ place: PromotionPlace, for entry: LedgerEntry) throws(CacheError) {
        try coordinated(.write, entry) { () throws(CacheError) in
            try onDestination(entry) { () throws(FileSystemError) in
                try fileSystem.requireWritable(place.folder.descriptor)
            }
        }
    }
}
