internal import FileSystem
internal import Synchronization
internal import SystemPackage

/// The folders whose entries this process has flushed, and those of all folders above them.
final class DurableNames: Sendable {
    private let flushed = Mutex<Set<FilePath>>([])

    /// Flushes all folders above a path, from the innermost out. Those that this user may not look into
    /// are not of our making.
    func flush(above path: FilePath, in fileSystem: any FileSystem) throws(FileSystemError) {
        var folder = path
        while folder.removeLastComponent(), !flushed.withLock({ $0.contains(folder) }) {
            do {
                let name = folder.isEmpty ? "." : folder
                try fileSystem.withFile(name, in: .workingDirectory, .directoryFollowingLinks) {
                    file throws(FileSystemError) in try fileSystem.synchronize(file)
                }
            } catch {
                guard error.isNotPermitted || error.isUnsupported else { throw error }
            }
        }
        remember(path)
    }

    private func remember(_ path: FilePath) {
        flushed.withLock { flushed in
            var folder = path
            while folder.removeLastComponent() { flushed.insert(folder) }
        }
    }
}
