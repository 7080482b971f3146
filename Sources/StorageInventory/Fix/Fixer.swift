internal import PrefetchCaching
package import PrefetchFileSystem
internal import PrefetchStorageAreas
package import SystemPackage

/// Carries out the remedies of findings.
///
/// Every change is recorded before it is made. No file is replaced, and none is moved that was changed since the
/// inventory or that a program is writing. Moves are renames: what lies on another volume stays.
package final class Fixer {
    package enum Outcome: Hashable, Sendable {
        case done(FixAct)
        /// A path that stays as it is, and why.
        case skipped(FilePath, String)

        package var isSkipped: Bool {
            if case .skipped = self { true } else { false }
        }
    }

    /// A remedy that does not apply.
    private struct Skip: Error {
        let reason: String
    }

    private let inventory: FileInventory
    private let fileSystem: any FileSystem
    private let discarded: FilePath
    private let isDryRun: Bool
    private let record: (FixAct) throws(FileSystemError) -> Void
    private var reader: FileReader
    private var acts: [FixAct] = []
    /// What was moved or removed, and the folders that were made, even if only in a dry run.
    private var gone: Set<FilePath> = []
    private var made: Set<FilePath> = []

    /// - Parameters:
    ///   - discarded: An absolute path: the folder for what is discarded, created if needed.
    ///   - isDryRun: Whether to only say what would be done.
    ///   - record: Called with every change before it is made, and once it returns the record must be durable.
    package init(
        _ inventory: FileInventory, discardingTo discarded: FilePath, isDryRun: Bool,
        in fileSystem: any FileSystem, record: @escaping (FixAct) throws(FileSystemError) -> Void
    ) {
        self.inventory = inventory
        self.discarded = discarded
        self.isDryRun = isDryRun
        self.record = record
        self.fileSystem = fileSystem
        reader = FileReader(fileSystem)
    }

    /// Carries out the remedy of a finding, if it has one.
    ///
    /// - Returns: What was done, in order, and what was not. An error of a system call is a reason as well.
    package func fix(_ finding: Finding) -> [Outcome] {
        guard let remedy = finding.remedy else { return [] }
        var outcomes: [Outcome] = []
        func attempt(_ path: FilePath, _ body: () throws -> Void) {
            acts = []
            do {
                try body()
                outcomes += acts.map(Outcome.done)
            } catch {
                outcomes += acts.map(Outcome.done)
                let reason = (error as? Skip)?.reason ?? "\(error)"
                outcomes.append(.skipped(path, reason))
            }
        }
        switch (remedy, finding.folder) {
        case (.exclude, let folder?), (.include, let folder?):
            attempt(inventory.absolutePath(ofFolder: folder)) { try mark(folder: folder, remedy) }
        case (.removeFolder, let folder?):
            attempt(inventory.absolutePath(ofFolder: folder)) { try removeFolders(in: folder) }
        case (.restrict, let folder?):
            attempt(inventory.absolutePath(ofFolder: folder)) { try restrict(folder) }
        case (.tag, _):
            attempt(inventory.place.areas.caches) { try tag(inventory.place.areas.caches) }
        case (.removeFolder, nil), (.restrict, nil): break
        case (.exclude, nil), (.include, nil):
            for index in finding.members {
                attempt(inventory.absolutePath(of: index)) { try mark(file: index, remedy) }
            }
        case (.move(let area), _):
            for index in finding.members {
                attempt(inventory.absolutePath(of: index)) { try move(index, to: area) }
            }
        case (.discard, _):
            for index in finding.members {
                attempt(inventory.absolutePath(of: index)) { try discard(index) }
            }
        }
        return outcomes
    }

    /// Records a change, and makes it.
    private func carryOut(_ act: FixAct, _ change: () throws(FileSystemError) -> Void)
        throws(FileSystemError)
    {
        if !isDryRun {
            try record(act)
            try change()
        }
        acts.append(act)
        switch act {
        case .move, .removeFolder: gone.insert(act.path)
        case .makeFolder: made.insert(act.path)
        case .mark, .restrict, .tag: break
        }
    }

    // MARK: Marks

    private func mark(file index: Int32, _ remedy: Remedy) throws {
        let path = inventory.absolutePath(of: index)
        if gone.contains(path) { return }
        let isPromised =
            inventory.files[Int(index)].kind == .promoted && inventory.files[Int(index)].isBackupIntended
        if remedy == .exclude, isPromised {
            throw Skip(reason: "it was opened with the policy to back it up")
        }
        let found: Void? = try reader.withFile(index, of: inventory) { file in
            guard try fileSystem.attributes(of: file).identity == inventory.files[Int(index)].identity else {
                throw Skip(reason: "it was replaced")
            }
            try mark(file, at: path, remedy)
        }
        if found == nil { throw Skip(reason: "it is gone") }
    }

    private func mark(folder number: Int32, _ remedy: Remedy) throws {
        let folder = inventory.folders[Int(number)]
        let path = inventory.absolutePath(ofFolder: number)
        if gone.contains(path) { return }
        if remedy == .include, folder.isTagged { throw Skip(reason: "remove its CACHEDIR.TAG by hand") }
        guard let handle = try reader.folder(number, of: inventory) else { throw Skip(reason: "it is gone") }
        try mark(handle.descriptor, at: path, remedy)
    }

    private func mark(_ file: Descriptor, at path: FilePath, _ remedy: Remedy) throws {
        let before = try FixAct.Marks(of: file, in: fileSystem)
        if remedy == .include, before == .none {
            throw Skip(
                reason: "it has no mark of its own: a folder above it, or its CACHEDIR.TAG, excludes it")
        }
        let fileSystem = fileSystem
        let policy: BackupPolicy = remedy == .exclude ? .exclude : .include
        try carryOut(.mark(path, policy, before: before)) { () throws(FileSystemError) in
            switch policy {
            case .exclude: try BackupMark(fileSystem: fileSystem).set(.exclude, on: file)
            // All of them, also those that another system has left.
            case .include:
                try FixAct.Marks.none.set(on: file, in: fileSystem)
            }
        }
    }

    // MARK: Folders of the cache

    private func restrict(_ number: Int32) throws {
        guard let handle = try reader.folder(number, of: inventory) else { throw Skip(reason: "it is gone") }
        let before = try fileSystem.attributes(of: handle.descriptor).permissions
        let fileSystem = fileSystem
        let act = FixAct.restrict(inventory.absolutePath(ofFolder: number), before)
        try carryOut(act) { () throws(FileSystemError) in
            try fileSystem.setPermissions(.ownerReadWriteExecute, of: handle.descriptor)
        }
    }

    private func tag(_ path: FilePath) throws {
        let fileSystem = fileSystem
        let folder = try Directory(at: path, in: fileSystem)
        guard try fileSystem.attributes(of: CacheDirectoryTag.name, in: folder.descriptor) == nil else {
            throw Skip(reason: "there is a CACHEDIR.TAG that is invalid; delete it")
        }
        try carryOut(.tag(path)) { () throws(FileSystemError) in
            try CacheDirectoryTag.ensure(in: folder.descriptor, of: fileSystem, flushing: true)
            try fileSystem.synchronize(folder.descriptor)
        }
    }

    // MARK: Moves

    private func move(_ index: Int32, to area: Area) throws {
        guard let root = inventory.place.areas.path(of: area) else {
            throw Skip(reason: "there is no \(area.name) here")
        }
        let file = inventory.files[Int(index)]
        var path = inventory.pathInArea(ofFolder: file.folder)
        if file.area == nil { _ = path.removePrefix("Library") }
        try move(index, to: path, in: root)
    }

    private func discard(_ index: Int32) throws {
        // Under its area, since names may repeat.
        let file = inventory.files[Int(index)]
        let area = FilePath(file.area?.name ?? "other")
        try move(index, to: area.pushing(inventory.pathInArea(ofFolder: file.folder)), in: discarded)
    }

    /// - Parameter path: Of the new folder in `root`. Links in it are not followed.
    private func move(_ index: Int32, to path: FilePath, in root: FilePath) throws {
        let file = inventory.files[Int(index)]
        guard file.kind == .foreign else { throw Skip(reason: "it belongs to the cache") }
        let fileSystem = fileSystem
        let found: Void? = try reader.withFile(index, of: inventory) { descriptor in
            let attributes = try fileSystem.attributes(of: descriptor)
            guard attributes.identity == file.identity, attributes.modified / 1_000_000 == file.modified
            else { throw Skip(reason: "it has changed") }
            guard try fileSystem.isBeingWritten(descriptor) != true else {
                throw Skip(reason: "a program is writing it")
            }
        }
        guard found != nil, let folder = try reader.folder(file.folder, of: inventory) else {
            throw Skip(reason: "it is gone")
        }
        let name = FilePath(root: nil, [file.name])
        let target = root.pushing(path).pushing(name)
        if try fileSystem.attributes(of: target, in: .workingDirectory) != nil {
            throw Skip(reason: "there is something at \(target.displayText)")
        }
        // Before folders are made for it.
        guard try device(of: root.pushing(path)) == file.identity.device else {
            throw Skip(reason: "\(root.displayText) is on another volume")
        }
        let newFolder = try openFolder(path, in: root)
        let act = FixAct.move(inventory.absolutePath(of: index), to: target, inode: file.identity.inode)
        do throws(FileSystemError) {
            try carryOut(act) { () throws(FileSystemError) in
                guard let newFolder else { return }
                try fileSystem.rename(
                    name, in: folder.descriptor, to: name, in: newFolder.descriptor, .exclusive)
                try fileSystem.synchronize(newFolder.descriptor)
                try fileSystem.synchronize(folder.descriptor)
            }
        } catch {
            guard error.errno == .improperLink else { throw error }
            throw Skip(reason: "\(root.displayText) is on another volume")
        }
        try removeFolderIfEmpty(file.folder)
    }

    /// The volume of a folder, which may have to be created.
    private func device(of path: FilePath) throws(FileSystemError) -> UInt64 {
        var next = path
        while !next.isEmpty, try fileSystem.attributes(of: next, in: .workingDirectory) == nil {
            next.removeLastComponent()
        }
        return try fileSystem.withFile(next, in: .workingDirectory, .directoryFollowingLinks) {
            folder throws(FileSystemError) in try fileSystem.attributes(of: folder).identity.device
        }
    }

    /// Opens a folder to move files to, and creates what is missing of it.
    ///
    /// - Returns: `nil` in a dry run, if it does not exist.
    private func openFolder(_ path: FilePath, in root: FilePath) throws(FileSystemError) -> Directory? {
        var missing: [FilePath] = []
        var next = root
        while !next.isEmpty, try fileSystem.attributes(of: next, in: .workingDirectory) == nil {
            missing.append(next)
            next.removeLastComponent()
        }
        for folder in missing.reversed() { try makeFolder(folder, folder, in: .workingDirectory) }
        var current = missing.isEmpty || !isDryRun ? try Directory(at: root, in: fileSystem) : nil
        var absolute = root
        for component in path.components {
            absolute.append(component)
            let name = FilePath(root: nil, [component])
            if let folder = try current?.open(name) {
                current = folder
                continue
            }
            try makeFolder(absolute, name, in: current?.descriptor ?? .workingDirectory)
            current = isDryRun ? nil : try current?.open(name)
        }
        return current
    }

    private func makeFolder(_ path: FilePath, _ name: FilePath, in folder: Descriptor)
        throws(FileSystemError)
    {
        // A dry run has not made it.
        if made.contains(path) { return }
        let fileSystem = fileSystem
        try carryOut(.makeFolder(path)) { () throws(FileSystemError) in
            _ = try fileSystem.makeDirectory(name, in: folder, permissions: .ownerReadWriteExecute)
            if folder != .workingDirectory { try fileSystem.synchronize(folder) }
        }
    }

    // MARK: Folders

    /// Removes a folder that holds nothing but folders, and those around it that only held it.
    private func removeFolders(in folder: Int32) throws(FileSystemError) {
        // A folder comes after its parent.
        for number in inventory.folders.indices.reversed().map(Int32.init)
        where inventory.lineage(ofFolder: number).contains(folder) {
            try removeFolderIfEmpty(number)
        }
    }

    /// Removes a folder that a fix has emptied, and then those around it.
    private func removeFolderIfEmpty(_ number: Int32) throws(FileSystemError) {
        var next: Int32? = number
        while let number = next {
            let folder = inventory.folders[Int(number)]
            let path = inventory.absolutePath(ofFolder: number)
            // What is marked or tagged was made on purpose.
            guard !gone.contains(path), folder.parent != nil, !inventory.isRootOfArea(number),
                folder.role?.isOwn != true,
                !folder.isExcludedItself, let handle = try reader.folder(number, of: inventory)
            else { return }
            let isEmpty = try fileSystem.entries(of: handle.descriptor).allSatisfy { entry in
                gone.contains(path.pushing(FilePath(root: nil, [entry.name])))
            }
            guard isEmpty else { return }
            let fileSystem = fileSystem
            reader.forgetFolder()
            try carryOut(.removeFolder(path, folder.attributes.permissions)) { () throws(FileSystemError) in
                try fileSystem.removeDirectory(path, in: .workingDirectory)
            }
            next = folder.parent
        }
    }
}

extension FileInventory {
    func absolutePath(of index: Int32) -> FilePath {
        let file = files[Int(index)]
        return absolutePath(ofFolder: file.folder).pushing(FilePath(root: nil, [file.name]))
    }
}
