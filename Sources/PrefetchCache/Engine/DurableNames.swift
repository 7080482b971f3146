internal import FileSystem
internal import Synchronization
internal import SystemPackage

/// The names that this process has flushed, each with those of all folders above it.
final class DurableNames: Sendable {
    private let flushed = Mutex<Set<FilePath>>([])

    /// Makes the name of a folder and those of all folders above it durable, once. Folders that this user may
    /// not open were not created by us, and are skipped.
    func flush(_ path: FilePath, in fileSystem: any FileSystem) throws(FileSystemError) {
        var names: [FilePath] = []
        var name = path
        var folder = path
        while !flushed.withLock({ $0.contains(name) }), folder.removeLastComponent() {
            do {
                let opened = folder.isEmpty ? "." : folder
                try fileSystem.withFile(opened, in: .workingDirectory, .directoryFollowingLinks) {
                    file throws(FileSystemError) in try fileSystem.synchronize(file)
                }
            } catch {
                guard error.isNotPermitted || error.isUnsupported else { throw error }
            }
            names.append(name)
            name = folder
        }
        // Only at the end: a name is worth nothing without those above it.
        flushed.withLock { $0.formUnion(names) }
    }
}
