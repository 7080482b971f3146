internal import PrefetchFileSystem
internal import PrefetchItemFormat
internal import PrefetchStorageAreas
internal import SystemPackage

/// Files that become the user's files.
extension Migrator {
    func promote(_ original: Original) throws(CacheError) -> MigratedFile.Outcome {
        try withOriginal(original) { opened throws(CacheError) in
            if let entry = try engine.ledger.entry(for: original.key),
                try files.existingFile(of: entry) != nil
            {
                guard entry.state == .committed else { return .left(.keyIsTaken) }
                return try merge(original, opened, into: entry)
            }
            guard !isDryRun else { return try preview(original, opened) }
            let place = try promoter.stager.place(for: original.destination, holding: [])
            let isOneVolume = try onFiles(destinations.support.isOneVolume(original.folder, place.folder))
            return isOneVolume
                ? try move(original, opened, to: place) : try copy(original, opened)
        }
    }

    private func preview(_ original: Original, _ opened: OpenOriginal) throws(CacheError)
        -> MigratedFile.Outcome
    {
        let (target, place) = (original.destination, place(of: original.destination))
        let folder = try onFiles(destinations.support.existingDestination(in: target.area, target.folder))
        guard let folder else { return .moved(place) }
        return try isInPlace(original, opened, as: target.name, in: folder) ? .adopted(place) : .moved(place)
    }

    private func place(of destination: Destination) -> AreaPath {
        let relative = SupportFolders.relativePath(in: destination.area, destination.folder)
            .pushing(destination.name.path)
        guard let place = AreaPath(area: destination.area, relative: relative) else {
            preconditionFailure("neither a file name nor a folder has a component '..'")
        }
        return place
    }

    /// To another volume: delivered like an item that the user asked for, and then removed from the folder.
    private func copy(_ original: Original, _ opened: OpenOriginal) throws(CacheError) -> MigratedFile.Outcome
    {
        let metadata = ItemMetadata(
            key: original.key, source: request.source, intent: .userRequested,
            destination: original.destination)
        switch try engine.store(opened.file, opened.attributes.length, as: metadata) {
        case .refused(let refusal): return .left(.refused(refusal))
        case .stored: return .left(.keyIsTaken)
        case .delivered:
            guard let entry = try engine.ledger.entry(for: original.key) else { return .left(.changed) }
            let outcome = try merge(original, opened, into: entry)
            guard case .merged(let place) = outcome else { return outcome }
            return .moved(place)
        }
    }

    /// On the same volume: by a rename, which is entered in the ledger first.
    ///
    /// Nothing goes through staging, and resolving the intent never removes anything: the file is either at its old or
    /// at its new location.
    private func move(_ original: Original, _ opened: OpenOriginal, to place: PromotionPlace)
        throws(CacheError) -> MigratedFile.Outcome
    {
        try destinations.requireWritable(place, in: original.destination)
        try engine.admission.makeRoomToOpen(0, in: destinations.support.staging)
        let checksum = try checksum(of: opened.file)
        try onFiles { () throws(FileSystemError) in
            try files.mark(opened.file, original.destination.backup)
            try fileSystem.synchronize(opened.file)
        }
        guard try isUnchanged(original, opened) else { return .left(.changed) }
        let target = original.destination
        let intent = LedgerEntry(
            key: original.key, state: .intent, mode: .rename, area: target.area, folder: place.path,
            name: target.name, plainName: target.name, backup: target.backup,
            contentBytes: opened.attributes.length, contentChecksum: checksum,
            stagedName: files.nextStagedName(original.key), inode: opened.attributes.identity.inode,
            birthTime: try files.birthTime(of: opened.file), openedAt: engine.environment.now())
        return try promoter.locks.hold(original.key.hash) { () throws(CacheError) in
            // Promoted by another process meanwhile: the next run compares the two.
            let earlier = try engine.ledger.entry(for: original.key)
            if earlier?.state == .intent { return .left(.keyIsTaken) }
            if let earlier, try files.existingFile(of: earlier) != nil { return .left(.keyIsTaken) }
            try engine.ledger.put(intent, replacing: earlier)
            do throws(CacheError) {
                return try publish(original, opened, intent, replacing: earlier, in: place.folder)
            } catch {
                // Whether it has its new name is determined when the intent is resolved.
                if try isUnchanged(original, opened) { try withdraw(intent, replacing: earlier) }
                throw error
            }
        }
    }

    /// Withdraws an intent that failed.
    private func withdraw(_ intent: LedgerEntry, replacing earlier: LedgerEntry?) throws(CacheError) {
        try engine.ledger.make([LedgerChange(old: intent, new: earlier)])
    }

    private enum Placing {
        case moved, merged, adopted, isTaken, changed
    }

    /// The caller holds the lock of the key.
    private func publish(
        _ original: Original, _ opened: OpenOriginal, _ intent: LedgerEntry, replacing earlier: LedgerEntry?,
        in folder: Directory
    ) throws(CacheError) -> MigratedFile.Outcome {
        var entry = intent
        var number = 1
        var placing = try coordinatedPlace(original, opened, entry, in: folder)
        while placing == .isTaken {
            let tried = entry
            number += 1
            entry.name = intent.plainName.numbered(number)
            try engine.ledger.put(entry, replacing: tried)
            placing = try coordinatedPlace(original, opened, entry, in: folder)
        }
        guard placing != .changed else {
            try withdraw(entry, replacing: earlier)
            return .left(.changed)
        }
        if placing != .moved { entry = entry.adopted }
        let location = destinations.location(of: try promoter.publisher.commit(entry, in: folder))
        switch placing {
        case .moved:
            // The source folder of the rename.
            try onFiles(fileSystem.synchronize(original.folder.descriptor))
            return .moved(location)
        case .merged: return try drop(original, opened) ? .merged(location) : .left(.changed)
        default: return .adopted(location)
        }
    }

    private func coordinatedPlace(
        _ original: Original, _ opened: OpenOriginal, _ entry: LedgerEntry, in folder: Directory
    ) throws(CacheError) -> Placing {
        try destinations.coordinated(.publish, entry) { () throws(CacheError) in
            try place(original, opened, entry, in: folder)
        }
    }

    private func place(
        _ original: Original, _ opened: OpenOriginal, _ entry: LedgerEntry, in folder: Directory
    )
        throws(CacheError) -> Placing
    {
        do throws(FileSystemError) {
            try fileSystem.rename(
                original.name, in: original.folder.descriptor, to: entry.name.path, in: folder.descriptor,
                .exclusive)
        } catch {
            if error.isNotFound { return .changed }
            guard error.errno == .fileExists else { throw .destination(destinations.path(of: entry), error) }
            return try placeUnderFreeName(original, opened, entry, in: folder)
        }
        guard try files.attributes(of: entry, in: folder)?.identity == opened.attributes.identity
        else {
            // The file was replaced since it was opened: this is a different one, and is moved back.
            try destinations.onDestination(
                entry,
                fileSystem.rename(
                    entry.name.path, in: folder.descriptor, to: original.name, in: original.folder.descriptor,
                    .exclusive))
            return .changed
        }
        return .moved
    }

    /// Decides what to do about a name that is taken.
    private func placeUnderFreeName(
        _ original: Original, _ opened: OpenOriginal, _ entry: LedgerEntry, in folder: Directory
    ) throws(CacheError) -> Placing {
        if try isInPlace(original, opened, as: entry.name, in: folder) { return .adopted }
        guard try files.isIdentical(entry, in: folder) else { return .isTaken }
        try files.flushFile(of: entry, in: folder)
        return .merged
    }
}
