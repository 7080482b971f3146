import FileSystemTestSupport
import PrefetchFileSystem
import PrefetchStorageAreas

/// What the file system of the temporary folder can do.
enum Volume {
    static let hasMarks = can { folder throws(FileSystemError) in
        try BackupMark(fileSystem: live).set(.exclude, on: folder)
    }

    static let hasNoDumpAndAttributes = can { folder throws(FileSystemError) in
        try live.setNoDump(true, of: folder)
        try live.setExtendedAttribute("user.storageareastests", to: [1], of: folder)
    }

    private static func can(_ call: (Descriptor) throws(FileSystemError) -> Void) -> Bool {
        do {
            let folder = try TemporaryFolder()
            try withExtendedLifetime(folder) { try call(folder.descriptor) }
            return true
        } catch {
            return false
        }
    }
}
