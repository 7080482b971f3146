internal import PrefetchFileSystem
internal import SystemPackage

/// The databases that apps use, recognised by a magic number, and else by the name that they usually have.
struct DatabaseFormat {
    private static let magic: [(offset: Int, bytes: [UInt8])] = [
        (0, Array("SQLite format 3\0".utf8)),  // sqlite.org/fileformat.html
        (16, Array("T-DB".utf8)),  // Realm
        (16, [0xDE, 0xC0, 0xEF, 0xBE]),  // LMDB
        (8, Array("DUCK".utf8)),  // DuckDB
        (12, [0x62, 0x31, 0x05, 0x00]), (12, [0x61, 0x15, 0x06, 0x00]),  // Berkeley DB: tree, hash
        (0, [0xCE, 0x9A, 0x57, 0x13]), (0, [0xCF, 0x9A, 0x57, 0x13]),  // GDBM
    ]

    /// How many bytes of a file tell its format.
    static let beginning = 20

    /// Whether a database begins with `bytes`.
    static func isBeginning(_ bytes: [UInt8]) -> Bool {
        magic.contains { bytes.dropFirst($0.offset).starts(with: $0.bytes) }
    }

    /// Whether a folder is a database as a whole, by its name.
    static func isFolder(_ name: FilePath.Component) -> Bool {
        switch name.extension?.lowercased() {
        case "cblite2", "leveldb", "rocksdb": true
        // Beside a Realm file, and beside a store of Core Data for its large values.
        case "management": name.stem.hasSuffix(".realm")
        default: name.string.hasSuffix("_SUPPORT")
        }
    }

    /// Whether a folder is a database of LevelDB or RocksDB, by the names of its files.
    static func isFolder(of names: some Sequence<FilePath.Component>) -> Bool {
        var (hasCurrent, hasManifest) = (false, false)
        for name in names {
            if name.string == "CURRENT" { hasCurrent = true }
            if name.string.hasPrefix("MANIFEST-") { hasManifest = true }
        }
        return hasCurrent && hasManifest
    }
}

extension Checkup {
    /// What shows that a file is a database: how it begins, or else its extension. Opens the file.
    mutating func databaseEvidence(_ index: Int32) -> String? {
        if let bytes = beginning(of: index, count: DatabaseFormat.beginning),
            DatabaseFormat.isBeginning(bytes)
        {
            return "it is a database"
        }
        return type(of: index) == .database ? "it is a database, by its name" : nil
    }
}

/// The files that databases keep beside them, such as a journal.
struct SideFiles {
    private static let endings = ["-journal", "-shm", "-wal", "-lock", ".wal", ".lock", ".note"]

    private struct Main: Hashable {
        let folder: Int32
        let name: [UInt8]
    }

    private var sides: [Main: [Int32]] = [:]

    /// Finds the files whose names make them side files of another, if there is one.
    init(among files: [Int32], of checkup: Checkup) {
        for index in files {
            let file = checkup.file(index)
            let name = FilePath(root: nil, [file.name]).bytes
            guard
                let ending = Self.endings.first(where: {
                    name.suffix($0.utf8.count).elementsEqual($0.utf8)
                })
            else { continue }
            let main = Main(folder: file.folder, name: Array(name.dropLast(ending.utf8.count)))
            sides[main, default: []].append(index)
        }
    }

    func sides(of index: Int32, in checkup: Checkup) -> [Int32] {
        let file = checkup.file(index)
        return sides[Main(folder: file.folder, name: FilePath(root: nil, [file.name]).bytes)] ?? []
    }

    /// The side files whose main file is named as a database, whether or not it is there.
    var ofDatabases: [Int32] {
        sides.filter { main, _ in
            FilePath(bytes: main.name).lastComponent.flatMap(FileType.init) == .database
        }.values.joined().sorted()
    }
}
