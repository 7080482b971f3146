internal import PrefetchVolumeCapacity

#if canImport(Darwin)
    internal import Darwin
#else
    internal import Glibc
#endif

/// What one walk through the folders of a cache found. It is made of plain system calls, past the
/// product's own: the faster it is, the less changes under it.
struct Walk {
    /// A file that cannot be mistaken for another. A partial's name is never used again; an item that
    /// takes the name of another, and by chance its inode, was written at another time.
    fileprivate struct File: Hashable {
        let name: String
        let device: UInt64
        let inode: UInt64
        var modified = 0
    }

    struct Failure: Error {
        let path: String
        let code: CInt
    }

    private static let charge = ChargedLength(blockSize: 4096)
    private var lengths: [File: Int64] = [:]

    /// - Parameter root: The cache's folder in Caches; it may be missing.
    init(_ root: String) throws {
        for folder in ["items", "incoming", "quarantine"] {
            try walk("\(root)/\(folder)", isStable: folder != "incoming")
        }
        if let status = try Self.status(of: "\(root)/catalog.sqlite") {
            lengths[File("catalog", status, isStable: false)] = Int64(status.st_size)
        }
    }

    var sum: Int64 { lengths.values.reduce(0, +) }

    /// What is charged to items and partials: neither the catalog nor locks are.
    var charged: Int64 {
        lengths.reduce(0) { sum, entry in
            entry.key.name == "catalog" || entry.key.name.hasSuffix(".lock") ? sum : sum + entry.value
        }
    }

    /// What was there of this walk's files when `later` began.
    func lowerBound(with later: Walk) -> Int64 {
        lengths.reduce(0) { sum, entry in sum + min(entry.value, later.lengths[entry.key] ?? 0) }
    }

    static func length(of path: String) throws -> Int64 {
        try status(of: path).map { Int64($0.st_size) } ?? 0
    }

    private static func status(of path: String) throws -> stat? {
        var status = stat()
        if lstat(path, &status) == 0 { return status }
        guard errno == ENOENT else { throw Failure(path: path, code: errno) }
        return nil
    }

    private mutating func walk(_ path: String, isStable: Bool) throws {
        guard let folder = opendir(path) else {
            guard errno == ENOENT else { throw Failure(path: path, code: errno) }
            return
        }
        defer { closedir(folder) }
        while let entry = readdir(folder) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            // It may be gone since the folder was read.
            guard name != ".", name != "..", let status = try Self.status(of: "\(path)/\(name)") else {
                continue
            }
            switch status.st_mode & S_IFMT {
            case S_IFDIR: try walk("\(path)/\(name)", isStable: isStable)
            case S_IFREG where status.st_size > 0:
                lengths[File(name, status, isStable: isStable)] =
                    Self.charge(storedBytes: Int64(status.st_size))
            default: break
            }
        }
    }
}

extension Walk.File {
    fileprivate init(_ name: String, _ status: stat, isStable: Bool) {
        self.init(
            name: name, device: UInt64(truncatingIfNeeded: status.st_dev), inode: UInt64(status.st_ino))
        #if canImport(Darwin)
            let time = status.st_mtimespec
        #else
            let time = status.st_mtim
        #endif
        if isStable { modified = Int(time.tv_sec) * 1_000_000_000 + Int(time.tv_nsec) }
    }
}
