import FileSystemTestSupport
import SystemPackage

@testable import PrefetchCaching

/// Newer versions of what was opened.
extension CrashWorkload {
    private static let newerFilm = SimulatedItem("film.mp4", .identity, length: 7000, seed: 31)
    private static let newerSite = SimulatedItem(
        bundle: "site", .lz4, ["index.html": 4500, "images/a.png": 3000, "new": 800])

    static var replacements: [CrashWorkload] {
        [
            replacing("a file is replaced", film, newerFilm),
            replacing("a bundle is replaced", site, newerSite),
            replacing(
                "a file without backup is replaced", film.without(.exclude), newerFilm.without(.exclude)),
            leaving(
                "a file that its user has changed is not replaced", film, newerFilm, changing: "film.mp4"),
            leaving(
                "a bundle that its user has changed is not replaced", site, newerSite, changing: "site/empty"),
            recoveredReplacement(1, film, newerFilm, after: 1),
            recoveredReplacement(2, site, newerSite, after: 2),
            recoveredReplacement(3, film, newerFilm, after: 3),
            recoveredReplacement(4, site, newerSite, after: 1, losing: documents.appending("site")),
            recoveredReplacement(5, site, newerSite, after: 2, losing: documents.appending("site")),
        ]
    }

    /// - Parameter old: Opened, whole and durable at the beginning.
    private static func replacing(_ name: String, _ old: SimulatedItem, _ new: SimulatedItem) -> CrashWorkload
    {
        var workload = CrashWorkload(name: name, kept: [old]) { world in
            try world.deliver(new, whenPromoted: .replaceIfUnmodified)
        }
        workload.volatile = [new]
        workload.prepare = { world in _ = try world.engine().open(old.key) }
        return workload
    }

    private static func leaving(
        _ name: String, _ old: SimulatedItem, _ new: SimulatedItem, changing path: String
    ) -> CrashWorkload {
        let file = documents.appending(path)
        var workload = CrashWorkload(name: name) { world in
            try world.deliver(new, whenPromoted: .replaceIfUnmodified)
        }
        workload.foreign = [file.string: strange]
        workload.prepare = { world in
            try world.fileSystem.removeFile(file)
            if file.removingLastComponent() != documents {
                try world.fileSystem.removeDirectory(file.removingLastComponent(), in: .workingDirectory)
            }
            try world.cache(old)
            _ = try world.engine().open(old.key)
            try world.write(strange, to: file)
        }
        return workload
    }

    /// - Parameters:
    ///   - changes: The commits and renames after which the process died.
    ///   - lost: A name that the check of a volume without a journal dropped afterwards.
    private static func recoveredReplacement(
        _ number: Int, _ old: SimulatedItem, _ new: SimulatedItem, after changes: Int,
        losing lost: FilePath? = nil
    ) -> CrashWorkload {
        var workload = replacing("recovery of a replacement \(number)", old, new)
        let open = workload.prepare
        workload.prepare = { world in
            try open(world)
            try world.die(after: changes, isAtOnce: true) {
                try world.deliver(new, whenPromoted: .replaceIfUnmodified)
            }
            if let lost {
                try world.fileSystem.removeTree(lost, in: .workingDirectory)
                // A leftover beside the folder would have recovery flush its new name.
                for name in world.fileSystem.disk.files(in: SimulatedWorld.staging).keys {
                    try world.fileSystem.removeFile(SimulatedWorld.staging.appending(name))
                }
            }
        }
        return workload
    }
}

extension SimulatedItem {
    fileprivate func without(_ backup: BackupPolicy) -> SimulatedItem {
        var item = self
        item.metadata.destination = .documents(destination.name, backup: backup)
        return item
    }
}
