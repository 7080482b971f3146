internal import PrefetchFileSystem
internal import SystemPackage

/// A little space, in several files, that is kept on the volume of the ledger while there is plenty, and given up when an item
/// could not be opened otherwise: the item itself needs no space if it is renamed, but the ledger has to grow, needs a log,
/// and a folder may have to be created.
struct SpareRoom: Sendable {
    /// As many files as may have to be created for an open.
    private static let count = 8
    /// Of each file.
    private static let bytes: Int64 = 32 << 10
    /// Available bytes below which nothing is kept.
    private static let ample: Int64 = 64 << 20

    let folder: Directory

    private var fileSystem: any FileSystem { folder.fileSystem }

    private static func name(_ number: Int) -> FilePath { FilePath("room-\(number).lock") }

    /// Allocates what is missing, if the volume has plenty of space.
    func keep() throws(FileSystemError) {
        // The last one is made last, and removed first.
        guard try fileSystem.attributes(of: Self.name(Self.count - 1), in: folder.descriptor) == nil,
            try fileSystem.volume(of: folder.descriptor).available >= Self.ample
        else { return }
        // What an attempt before left. Never what lies there: it may be a link to a file of others.
        _ = try giveUp()
        for number in 0..<Self.count {
            do throws(FileSystemError) {
                try fileSystem.withFile(
                    Self.name(number), in: folder.descriptor, .createNew(CacheLayout.filePermissions),
                    allocate)
            } catch {
                // Another process is making them.
                guard error.errno != .fileExists else { return }
                throw error
            }
        }
    }

    private func allocate(_ file: Descriptor) throws(FileSystemError) {
        do throws(FileSystemError) {
            try fileSystem.allocate(Self.bytes, for: file)
        } catch {
            guard error.isUnsupported else { throw error }
            try fileSystem.writeAll([UInt8](repeating: 0, count: Int(Self.bytes)), to: file, at: 0)
        }
    }

    /// - Returns: Whether there was anything.
    func giveUp() throws(FileSystemError) -> Bool {
        var wasThere = false
        for number in (0..<Self.count).reversed() {
            do {
                try fileSystem.unlink(Self.name(number), in: folder.descriptor)
                wasThere = true
            } catch {
                guard error.isNotFound else { throw error }
            }
        }
        return wasThere
    }

    static func isPart(_ name: FilePath.Component) -> Bool {
        (0..<count).contains { Self.name($0).string == name.string }
    }
}
