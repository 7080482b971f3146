import FileSystemTestSupport
import SystemPackage

@testable import PrefetchCaching

/// A promise that a crash has broken.
struct Violation: Error, CustomStringConvertible {
    enum Kind: String, CaseIterable {
        case lost, duplicate, partial, foreignTouched, leftBehind, backedUp, failed
    }

    let kind: Kind
    let detail: String

    var description: String { "\(kind): \(detail)" }
}

/// The reference model: what must be on a disk, whatever has happened, and what the next process must
/// make of it. It knows contents and promises, and nothing of how they are kept.
struct CrashJudge {
    let workload: CrashWorkload
    /// What users were told before the crash.
    let notes: ArraySlice<String>

    private var items: [SimulatedItem] { workload.kept + workload.volatile }

    /// Looks at the disk as the crash left it, has the next process recover, and looks again.
    ///
    /// - Parameter world: On the disk; its history is that of the recovery.
    func judge(_ world: SimulatedWorld) throws(Violation) {
        let crashed = world.fileSystem.disk
        try expectOnlyWholeFiles(on: crashed)
        try expectForeignFiles(on: crashed)
        // What was reported before is there now, and not only when somebody repairs it.
        try expectReported(notes, on: crashed)

        let told: [ItemKey: String]
        do {
            told = try recover(world)
        } catch let violation as Violation {
            throw violation
        } catch {
            throw Violation(kind: .failed, detail: "recovery: \(error)")
        }
        let disk = world.fileSystem.disk
        try expectOnlyWholeFiles(on: disk)
        try expectForeignFiles(on: disk)
        try expectNothingTwice(on: disk)
        try expectNothingLeft(on: disk)
        for note in notes {
            let (key, path, _) = try parse(note)
            guard let now = told[key], now != path else { continue }
            throw Violation(kind: .duplicate, detail: "\(key) was at \(path) and is at \(now)")
        }
        // The power goes once more: what the recovery reported is durable.
        let later = world.fileSystem.history
        guard let end = later.moments.last else { return }
        for least in end.leastDisks { try expectReported(notes + later.notes, on: least) }
    }

    /// Opens everything, twice.
    private func recover(_ world: SimulatedWorld) throws -> [ItemKey: String] {
        var told: [ItemKey: String] = [:]
        for _ in 1...2 {
            let engine = try world.engine()
            for item in items {
                guard let path = try open(item, world, engine) else { continue }
                if let before = told.updateValue(path, forKey: item.key), before != path {
                    throw Violation(kind: .duplicate, detail: "\(item.key): \(before), then \(path)")
                }
            }
        }
        return told
    }

    private func open(_ item: SimulatedItem, _ world: SimulatedWorld, _ engine: Engine) throws -> String? {
        let isKept = workload.kept.contains { $0.key == item.key }
        do {
            switch try world.open(item.key, engine) {
            case .hit(let opened): return opened.path.string
            case .miss(let miss):
                guard isKept else { return nil }
                throw Violation(kind: .lost, detail: "\(item.key): \(miss)")
            }
        } catch CacheError.movedOrDeleted where !isKept {
            return nil
        } catch let error as CacheError {
            throw Violation(kind: .failed, detail: "\(item.key): \(error)")
        }
    }

    private func parse(_ note: String) throws(Violation) -> (ItemKey, String, checksum: UInt64?) {
        let parts = note.split(separator: "\t")
        do {
            return (try ItemKey(String(parts[0])), String(parts[1]), UInt64(parts[2]))
        } catch {
            throw Violation(kind: .failed, detail: "\(error)")
        }
    }

    private func expectReported(_ notes: ArraySlice<String>, on disk: SimulatedDisk) throws(Violation) {
        for note in notes {
            let (key, path, checksum) = try parse(note)
            guard let content = disk.content(of: FilePath(path)) ?? bundle(at: FilePath(path), on: disk)
            else {
                throw Violation(kind: .lost, detail: "\(path), as \(key) was reported")
            }
            // What its user made of it is as good.
            if content == workload.foreign[path] { continue }
            guard let item = items.first(where: { $0.key == key && $0.checksum == checksum }) else {
                continue
            }
            guard content == item.content else {
                throw Violation(kind: .lost, detail: "\(path) has not the content of \(key)")
            }
            guard item.destination.backup == .include || disk.isExcluded(FilePath(path)) else {
                throw Violation(kind: .backedUp, detail: path)
            }
        }
    }

    private func destinationFiles(on disk: SimulatedDisk) -> [String: [UInt8]] {
        var files: [String: [UInt8]] = [:]
        let documents = SimulatedWorld.areas.documents
        let iCloudDrive = SimulatedWorld.iCloudDrive
        let folders = [
            documents, documents.pushing(SimulatedWorld.folder.path), SimulatedWorld.supportFiles,
            iCloudDrive, iCloudDrive.pushing(SimulatedWorld.folder.path),
        ]
        let excluded = [documents, SimulatedWorld.supportFiles].map {
            $0.appending(SimulatedWorld.excludedFolder.string)
        }
        for folder in folders + excluded {
            for (name, content) in disk.files(in: folder) where name != CacheDirectoryTag.name.string {
                files[folder.appending(name).string] = content
            }
            for name in disk.folders(in: folder) where !isOfTheLayout(name) {
                let path = folder.appending(name)
                if workload.foreign.keys.contains(where: { $0.hasPrefix(path.string + "/") }) { continue }
                files[path.string] = bundle(at: path, on: disk) ?? Array("a folder that is not whole".utf8)
            }
        }
        return files
    }

    private func isOfTheLayout(_ name: String) -> Bool {
        [
            "Podcasts", "Daily", "Inbox", SimulatedWorld.excludedFolder.string,
            CacheLayout.foreignStaging.string,
        ]
        .contains(name)
    }

    /// The content of the bundle whose folder is at a path; `nil` if there is none that is whole and holds nothing else.
    private func bundle(at path: FilePath, on disk: SimulatedDisk) -> [UInt8]? {
        guard let tree = disk.tree(path) else { return nil }
        let parts = items.map(\.metadata.parts).first { parts in
            tree == tree.filter { file in parts.contains { $0.path.string == file.key } }
                && parts.allSatisfy { Int64(tree[$0.path.string]?.count ?? -1) == $0.contentBytes }
        }
        return parts.map { $0.flatMap { tree[$0.path.string] ?? [] } }
    }

    private func expectOnlyWholeFiles(on disk: SimulatedDisk) throws(Violation) {
        for (path, content) in destinationFiles(on: disk)
        where workload.foreign[path] == nil && path != workload.unflushed {
            guard items.contains(where: { $0.content == content }) else {
                throw Violation(kind: .partial, detail: "\(path), \(content.count) bytes")
            }
        }
    }

    private func expectForeignFiles(on disk: SimulatedDisk) throws(Violation) {
        for (path, content) in workload.foreign where disk.content(of: FilePath(path)) != content {
            throw Violation(kind: .foreignTouched, detail: path)
        }
    }

    private func expectNothingTwice(on disk: SimulatedDisk) throws(Violation) {
        // A file of the user's may be the same without being the one.
        let files = destinationFiles(on: disk).filter { path, _ in
            workload.foreign[path] == nil && path != workload.unflushed
        }
        for item in items {
            let paths = files.filter { $0.value == item.content }.keys.sorted()
            guard paths.count > 1 else { continue }
            throw Violation(kind: .duplicate, detail: "\(item.key) is at \(paths)")
        }
        for (key, versions) in Dictionary(grouping: items, by: \.key) where versions.count > 1 {
            let paths = files.filter { file in versions.contains { $0.content == file.value } }.keys.sorted()
            if paths.count > 1 { throw Violation(kind: .duplicate, detail: "\(key) is at \(paths)") }
        }
    }

    private func expectNothingLeft(on disk: SimulatedDisk) throws(Violation) {
        for folder in [SimulatedWorld.staging, SimulatedWorld.foreignStaging] {
            let names = disk.names(in: folder).filter { !$0.hasSuffix(".lock") }
            guard names.isEmpty else {
                throw Violation(kind: .leftBehind, detail: "\(names.sorted()) in \(folder)")
            }
        }
        for item in workload.kept
        where disk.content(of: SimulatedWorld.items.pushing(CacheLayout.file(of: item.key.hash))) != nil {
            throw Violation(kind: .leftBehind, detail: "the cached copy of \(item.key)")
        }
    }
}
