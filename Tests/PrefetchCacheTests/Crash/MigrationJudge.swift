import FileSystemTestSupport
import SystemPackage

@testable import PrefetchCaching

/// What must hold whenever a migration is interrupted: each file is in its old place or has become what it was
/// to be; and it is not in both any more when the migration was run again.
struct MigrationJudge {
    let migration: SimulatedMigration
    /// Files of the user's, by their paths.
    let foreign: [String: [UInt8]]
    /// A file of the user's that may be anything.
    let unflushed: String?

    func judge(_ world: SimulatedWorld) throws(Violation) {
        try expectNothingLost(on: world.fileSystem.disk)
        try runAgain(world)
        let disk = world.fileSystem.disk
        try expectNothingLost(on: disk)
        try expectNothingTwice(on: disk)
        // The power goes once more.
        guard let end = world.fileSystem.history.moments.last else { return }
        for least in end.leastDisks { try expectNothingLost(on: least) }
    }

    private func runAgain(_ world: SimulatedWorld) throws(Violation) {
        do {
            let left = try migration.run(world)
            if left.isEmpty { return }
            throw Violation(kind: .failed, detail: "\(left)")
        } catch let violation as Violation {
            throw violation
        } catch {
            throw Violation(kind: .failed, detail: "the second run: \(error)")
        }
    }

    private func expectNothingLost(on disk: SimulatedDisk) throws(Violation) {
        for (path, content) in migration.originals where try places(of: content, on: disk).isEmpty {
            throw Violation(kind: .lost, detail: path)
        }
        for (path, content) in foreign where disk.content(of: FilePath(path)) != content {
            throw Violation(kind: .foreignTouched, detail: path)
        }
        for (path, content) in filesOfUsers(on: disk) where foreign[path] == nil && path != unflushed {
            guard migration.originals.values.contains(content) else {
                throw Violation(kind: .partial, detail: "\(path), \(content.count) bytes")
            }
        }
    }

    private func expectNothingTwice(on disk: SimulatedDisk) throws(Violation) {
        for (path, content) in migration.originals {
            let places = try places(of: content, on: disk)
            if places.count > 1 { throw Violation(kind: .duplicate, detail: "\(path) is at \(places)") }
        }
        for folder in [SimulatedWorld.staging, SimulatedWorld.foreignStaging] {
            let names = disk.names(in: folder).filter { !$0.hasSuffix(".lock") }
            if !names.isEmpty { throw Violation(kind: .leftBehind, detail: "\(names.sorted()) in \(folder)") }
        }
    }

    /// Where a content is, whole.
    private func places(of content: [UInt8], on disk: SimulatedDisk) throws(Violation) -> [String] {
        var places = filesOfUsers(on: disk).filter { $0.value == content }.map(\.key)
        for path in migration.originals.keys
        where disk.content(of: SimulatedMigration.folder.appending(path)) == content { places.append(path) }
        for item in migration.items where item.content == content {
            do {
                if try SimulatedMigration.isWhole(item, on: disk) { places.append("items") }
            } catch {
                throw Violation(kind: .failed, detail: "\(error)")
            }
        }
        return places.sorted()
    }

    private func filesOfUsers(on disk: SimulatedDisk) -> [String: [UInt8]] {
        var files: [String: [UInt8]] = [:]
        for top in [SimulatedWorld.areas.documents, SimulatedWorld.supportFiles] {
            for folder in [top, top.appending("Podcasts")] {
                for (name, content) in disk.files(in: folder) {
                    files[folder.appending(name).string] = content
                }
            }
        }
        return files
    }
}
