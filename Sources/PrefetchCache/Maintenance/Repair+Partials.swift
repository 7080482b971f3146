internal import FileSystem
internal import ItemFormat
internal import StorageAreas
internal import SystemPackage

/// The leftovers of dead writers in `incoming/`, and the quarantine.
extension Repair {
    /// Removes the partials and lock files of writers that have died.
    func removeOrphans() throws(CacheError) {
        let incoming = engine.folders.current.incoming
        let orphans = try onFiles { () throws(FileSystemError) in try WriterSession.orphans(in: incoming) }
        let leftovers = try onFiles { () throws(FileSystemError) in
            isDryRun ? [] : try WriterSession.sweep(incoming)
        }
        for leftover in leftovers {
            let place = CacheLayout.incoming.pushing(CacheLayout.lock(session: leftover.session))
            attempt(.ours(place, in: .caches)) { () throws(CacheError) in
                throw .fileSystem(leftover.error)
            }
        }
        for name in orphans.sorted(by: { $0.string < $1.string }) {
            let path = FilePath(root: nil, [name])
            if !isDryRun, try engine.promoter.attributes(of: path, in: incoming) != nil { continue }
            let isLock = name.extension == "lock"
            note(
                .partialRemoved, .ours(CacheLayout.incoming.appending(name), in: .caches),
                isLock ? "the lock of a writer that is no more" : "of a writer that is no more")
        }
    }

    /// Removes kept partials that can never be resumed. The others stay for the next download.
    func removeUselessPartials() throws(CacheError) {
        let incoming = engine.folders.current.incoming
        let files = PartialFiles(incoming: incoming)
        let census = PartialCensus(folders: engine.folders, environment: environment, charge: engine.charge)
        let hashes = try onFiles { () throws(FileSystemError) in try files.hashes() }
        for hash in hashes {
            let place = AreaPath.ours(
                CacheLayout.incoming.pushing(CacheLayout.keptPartial(of: hash)), in: .caches)
            attempt(place) { () throws(CacheError) in
                guard try census.isUseless(hash) else { return }
                if !isDryRun {
                    let removal = try engine.locks.hold(hash.ofPartial) { () throws(CacheError) in
                        let removal = try onFiles { () throws(FileSystemError) in try files.remove(hash) }
                        if removal == .removed { engine.catalog.notePartialGone(hash) }
                        return removal
                    }
                    guard removal == .removed else { return }
                }
                note(.partialRemoved, place, "it can never be resumed")
            }
        }
    }

    /// Removes the quarantined items.
    func emptyQuarantine() throws(CacheError) {
        let root = engine.folders.current.root
        let opened = try onFiles { () throws(FileSystemError) in try root.open(CacheLayout.quarantine) }
        guard let folder = opened else { return }
        let entries = try onFiles { () throws(FileSystemError) in
            try fileSystem.entries(of: folder.descriptor)
        }
        for entry in entries.sorted(by: { $0.name.string < $1.name.string }) {
            guard let hash = KeyHash(hexadecimal: entry.name.string) else { continue }
            let place = AreaPath.ours(CacheLayout.quarantine.appending(entry.name), in: .caches)
            let name = FilePath(root: nil, [entry.name])
            attempt(place) { () throws(CacheError) in
                guard let found = try engine.promoter.attributes(of: name, in: folder), found.kind == .regular
                else { return }
                if !isDryRun {
                    try engine.locks.hold(hash) { () throws(CacheError) in
                        guard try engine.promoter.discard(name, in: folder) else { return }
                        engine.catalog.noteRemoved(hash)
                    }
                }
                note(.quarantinedItemRemoved, place)
            }
        }
    }

    /// Deletes the rows of files that the system has removed from `incoming/` and the quarantine.
    func forgetLostFiles() throws(CacheError) {
        guard case .usable(let view) = try CatalogView.look(in: engine.folders) else { return }
        var lost: [KeyHash: CatalogRow.Kind] = [:]
        for (hash, kind) in try view.read({ try $0.filesBesidesItems() }) where try isLost(hash, kind) {
            lost[hash] = kind
        }
        guard !lost.isEmpty else { return }
        for (hash, kind) in lost.sorted(by: { $0.key < $1.key }) {
            note(.rowRemoved, .ours(place(of: hash, kind), in: .caches))
        }
        guard !isDryRun else { return }
        try engine.catalog.transaction { transaction in
            // A writer that puts such a file there again writes its row after this.
            for (hash, kind) in lost where try isLost(hash, kind) {
                try transaction.deleteRow(hash)
            }
        }
    }

    private func isLost(_ hash: KeyHash, _ kind: CatalogRow.Kind) throws(CacheError) -> Bool {
        guard kind == .partial else {
            return try engine.promoter.attributes(of: place(of: hash, kind), in: engine.folders.current.root)
                == nil
        }
        let standing = try onFiles { () throws(FileSystemError) in
            try engine.catalog.files.standing(ofPartial: hash)
        }
        if case .absent = standing { return true }
        return false
    }

    /// The path below the cache's folder.
    private func place(of hash: KeyHash, _ kind: CatalogRow.Kind) -> FilePath {
        kind == .partial
            ? CacheLayout.incoming.pushing(CacheLayout.keptPartial(of: hash.ofPartial))
            : CacheLayout.quarantine.appending(hash.hexadecimal)
    }
}
