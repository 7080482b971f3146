internal import PrefetchFileSystem
internal import SystemPackage

extension Directory {
    /// Gives this folder and those in it a protection, which what is created in them from now on inherits. Costs one
    /// call where nothing is to be changed, or the system does not protect files.
    func protect(_ protection: FileProtection) throws(FileSystemError) {
        guard let present = try fileSystem.protection(of: descriptor), present != protection else { return }
        try setProtection(protection, depth: 2)
    }

    /// This folder comes last, so that a walk that was interrupted is repeated.
    private func setProtection(_ protection: FileProtection, depth: Int) throws(FileSystemError) {
        for entry in try fileSystem.entries(of: descriptor) where depth > 0 && entry.kind == .directory {
            // What was handed over is the user's.
            let name = FilePath(root: nil, [entry.name])
            guard name != CacheLayout.files, let folder = try open(name) else { continue }
            try folder.setProtection(protection, depth: depth - 1)
        }
        try fileSystem.setProtection(protection, of: descriptor)
    }
}
