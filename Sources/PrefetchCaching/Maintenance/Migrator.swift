internal import PrefetchFileSystem
internal import PrefetchItemFormat
internal import PrefetchStorageAreas
internal import SystemPackage

/// Imports the files of a folder into the cache: as items, or as files of the user's.
///
/// It can be interrupted at any moment and run again. A file is removed from its old location only when its new form is
/// durable, or by the very rename to its new name, which is entered in the ledger first, as for every promotion. A
/// later run removes files from the folder that are also at their new location with the same content.
struct Migrator {
    let engine: Engine
    let request: MigrationRequest
    let isDryRun: Bool
    let intake: any ItemIntake
    /// The folders of items whose names were flushed.
    let durableNames = DurableNames()

    /// - Parameter intake: `nil` for the cache.
    init(engine: Engine, request: MigrationRequest, isDryRun: Bool, intake: (any ItemIntake)? = nil) {
        self.engine = engine
        self.request = request
        self.isDryRun = isDryRun
        self.intake = intake ?? CacheIntake(engine: engine)
    }

    var promoter: Promoter { engine.promoter }
    var files: PromotedFiles { engine.files }
    var destinations: Destinations { engine.destinations }
    var fileSystem: any FileSystem { engine.environment.fileSystem }

    /// A file to migrate.
    struct Original {
        let name: FilePath
        let folder: Directory
        let key: ItemKey
        let destination: Destination
    }

    func run(_ report: (MigratedFile) -> Void) throws(CacheError) {
        let top = Directory(
            try onFiles(fileSystem.open(request.folder, in: .workingDirectory, .directoryFollowingLinks)),
            of: fileSystem)
        if !isDryRun { try resolveIntents() }
        let own = try ownFolders()
        let identity = try files.attributes(of: top.descriptor).identity
        guard try !isBelow(own, top) else {
            return report(MigratedFile(path: ".", key: nil, outcome: .left(.ours)))
        }
        var skipped = own
        if let target = try destinationRoot(), target != identity { skipped.insert(target) }
        let walk = FolderWalk(top: top, isSkipped: { skipped.contains($0) })
        try walk.run { entry throws(CacheError) in
            var entry = entry
            do throws(Left) {
                try putBackIfAside(&entry)
                let original = try original(entry)
                let outcome = try migrate(original)
                report(MigratedFile(path: entry.path.displayText, key: original.key, outcome: outcome))
            } catch {
                report(
                    MigratedFile(
                        path: entry.path.displayText, key: error.key, outcome: .left(error.obstacle)))
            }
        } unreadable: { path, error in
            report(MigratedFile(path: path.displayText, key: nil, outcome: .left(.failed(error))))
        }
    }

    /// Why a file stays.
    struct Left: Error {
        var key: ItemKey?
        let obstacle: MigratedFile.Obstacle

        init(_ obstacle: MigratedFile.Obstacle, _ key: ItemKey? = nil) {
            self.obstacle = obstacle
            self.key = key
        }
    }

    /// Resolves what an earlier run entered in the ledger and did not finish: such a file may already have its new
    /// name.
    private func resolveIntents() throws(CacheError) {
        for intent in try engine.ledger.intents() {
            try promoter.locks.holdIfFree(intent.key.hash) { () throws(CacheError) in
                guard try engine.ledger.entry(for: intent.key) == intent else { return }
                try promoter.recovery.complete(intent)
            }
        }
    }

    private func ownFolders() throws(CacheError) -> Set<FileAttributes.Identity> {
        var own: Set<FileAttributes.Identity> = []
        var folders = [engine.folders.current.root, destinations.support.root]
        folders += try onFiles(destinations.support.stagingFolders())
        for folder in folders { own.insert(try files.attributes(of: folder.descriptor).identity) }
        return own
    }

    /// Whether a folder is one of `folders`, or lies below one of them.
    private func isBelow(_ folders: Set<FileAttributes.Identity>, _ folder: Directory) throws(CacheError)
        -> Bool
    {
        var current = folder
        var last: FileAttributes.Identity?
        while true {
            let identity = try files.attributes(of: current.descriptor).identity
            if folders.contains(identity) { return true }
            // The root is its own parent.
            guard identity != last else { return false }
            last = identity
            do {
                current = Directory(
                    try fileSystem.open("..", in: current.descriptor, .directory), of: fileSystem)
            } catch {
                // Our own folders can be opened, so it is neither one of them nor below one.
                guard error.isNotPermitted else { throw .fileSystem(error) }
                return false
            }
        }
    }

    /// The folder that files go to, if it exists: its files would be moved into it again and again.
    private func destinationRoot() throws(CacheError) -> FileAttributes.Identity? {
        guard case .promoted(let area) = request.role else { return nil }
        let folder = try onFiles(destinations.support.existingDestination(in: area, nil))
        return try folder.map { folder throws(CacheError) in
            try files.attributes(of: folder.descriptor).identity
        }
    }

    /// Derives the key and the destination of a file from its path.
    private func original(_ entry: FolderWalk.Entry) throws(Left) -> Original {
        if entry.attributes.kind == .directory { throw Left(.ours) }
        // The tag of a cache folder, ours or another's, is not content.
        if FilePath(root: nil, [entry.name]) == CacheDirectoryTag.name { throw Left(.ours) }
        guard entry.attributes.kind == .regular else { throw Left(.notARegularFile) }
        var names: [String] = []
        for component in entry.path.components {
            guard let name = String(validating: component) else { throw Left(.name("its path is not UTF-8")) }
            names.append(name)
        }
        let key: ItemKey
        do {
            key = try ItemKey(request.keyPrefix + names.joined(separator: "/"))
        } catch {
            throw Left(.name(error.description))
        }
        do {
            let name = try FileName(names.removeLast())
            let folder = names.isEmpty ? nil : try FolderPath(names.joined(separator: "/"))
            guard
                let destination = Destination(
                    area: request.area, name: name, in: folder, backup: request.backup)
            else { throw Left(.name("nothing can be kept in \(request.area.title)"), key) }
            return Original(
                name: FilePath(root: nil, [entry.name]), folder: entry.folder, key: key,
                destination: destination)
        } catch let error as FileNameError {
            throw Left(.name(error.description), key)
        } catch let error as FolderPathError {
            throw Left(.name(error.description), key)
        } catch let error as Left {
            throw error
        } catch {
            throw Left(.name("\(error)"), key)
        }
    }

    private func migrate(_ original: Original) throws(Left) -> MigratedFile.Outcome {
        do throws(CacheError) {
            switch request.role {
            case .cached: return try store(original)
            case .promoted: return try promote(original)
            }
        } catch {
            throw Left(.failed(error), original.key)
        }
    }
}
