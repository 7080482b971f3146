internal import PrefetchItemFormat
internal import PrefetchStorageAreas
internal import SystemPackage

/// The names of everything that the cache keeps on disk.
enum CacheLayout {
    /// The folder of the cache in Caches, and the folder of the same name in Application Support.
    static let root = FilePath("PrefetchCache")

    // In Caches: purgeable.
    static let items = FilePath("items")
    static let incoming = FilePath("incoming")
    static let quarantine = FilePath("quarantine")
    static let catalog = "catalog.sqlite"

    // In Application Support: durable.
    static let record = "record.sqlite"
    static let recordLog = "record.sqlite-wal"
    /// The file without data whose length is the ``Record/generation()``.
    static let generation = FilePath("generation")
    static let staging = FilePath("staging")
    static let files = FilePath("files")
    static let configuration = FilePath.Component("configuration.json")

    /// The staging folder for a destination on another volume than Application Support.
    static let foreignStaging = FilePath(".PrefetchCache-staging")

    /// The suffixes of the files that SQLite creates next to a database.
    static let databaseSides = ["-journal", "-wal", "-shm"]

    static let catalogJournal = "\(catalog)-journal"

    /// An unguessable name that no file has, see ``SupportFolders/isOneVolume(_:_:)``.
    static let nonexistent = FilePath(".PrefetchCache-\(String(UInt64.random(in: .min ... .max), radix: 16))")

    static let folderPermissions: FilePermissions = [.ownerReadWriteExecute]
    static let filePermissions: FilePermissions = [.ownerReadWrite]
    /// For what is the user's own: the umask decides, as with every program's documents. Application Support is private.
    static func filePermissions(in area: Area, isExecutable: Bool = false) -> FilePermissions {
        let everybody: FilePermissions =
            area == .applicationSupport
            ? .ownerReadWrite : [.ownerReadWrite, .groupRead, .groupWrite, .otherRead, .otherWrite]
        return isExecutable ? everybody.union(everybody.executing) : everybody
    }

    static func folderPermissions(in area: Area) -> FilePermissions {
        filePermissions(in: area, isExecutable: true)
    }

    /// The folder of an item below ``items``, named by the first two digits of its hash.
    static func folder(of hash: KeyHash) -> FilePath {
        FilePath(String(hash.hexadecimal.prefix(2)))
    }

    /// The file of an item below ``items``.
    static func file(of hash: KeyHash) -> FilePath {
        let name = hash.hexadecimal
        return FilePath("\(name.prefix(2))/\(name)")
    }

    static func partial(session: String, number: UInt64) -> FilePath { FilePath("\(session)-\(number)") }
    static func lock(session: String) -> FilePath { FilePath("\(session).lock") }

    /// The session of a partial or of a writer's lock, or `nil` for a name that is not ours.
    static func session(of name: FilePath.Component) -> String? {
        let text = name.string
        let session = String(text.prefix(16))
        guard session.utf8.count == 16, session.utf8.allSatisfy(\.isLowercaseHexadecimal) else { return nil }
        let rest = text.dropFirst(16)
        if rest == ".lock" { return session }
        guard rest.first == "-", rest.count > 1, rest.dropFirst().utf8.allSatisfy(\.isDecimal) else {
            return nil
        }
        return session
    }

    /// The chunks of a kept partial, below ``incoming``, and their journal.
    static func keptPartial(of hash: KeyHash) -> FilePath { FilePath(hash.hexadecimal) }
    static func journal(of hash: KeyHash) -> FilePath { FilePath(hash.hexadecimal + journalSuffix) }

    /// The key's hash in the name of a kept partial or its journal, or `nil` for a name that is not ours.
    static func hash(ofKeptPartial name: FilePath.Component) -> KeyHash? {
        let text = name.string
        guard text.utf8.count == 32 || (text.utf8.count == 39 && text.hasSuffix(journalSuffix)) else {
            return nil
        }
        return KeyHash(hexadecimal: String(text.prefix(32)))
    }

    /// The lock of a key whose content is being fetched, below ``incoming``.
    static func claim(of hash: KeyHash) -> FilePath { FilePath("\(hash.hexadecimal).claim") }

    static func isClaim(_ name: FilePath.Component) -> Bool {
        name.extension == "claim" && KeyHash(hexadecimal: name.stem) != nil
    }

    /// The file below ``staging`` of which ``KeyLock`` locks a byte for each key.
    static let keyLocks = FilePath("keys.lock")

    /// A name under ``staging``, unique to this promotion.
    static func staged(_ hash: KeyHash, session: String, number: UInt64) -> FilePath {
        FilePath("\(hash.hexadecimal)-\(session)-\(number)")
    }

    /// The journal of a staged file that arrives piece by piece, next to it.
    static func journal(ofStaged name: FilePath) -> FilePath { FilePath(name.string + journalSuffix) }

    /// The name of the staged file that a journal belongs to, or `nil` for a name that is not that of such a journal.
    static func stagedName(ofJournal name: FilePath.Component) -> FilePath.Component? {
        guard name.string.hasSuffix(journalSuffix),
            let staged = FilePath.Component(String(name.string.dropLast(journalSuffix.count))),
            hash(ofStaged: staged) != nil
        else { return nil }
        return staged
    }

    private static let journalSuffix = ".chunks"

    /// A name under ``staging`` for a file of the user's that is moved aside for inspection. It is never removed as a
    /// leftover, but moved back.
    static func aside(_ hash: KeyHash, session: String, number: UInt64) -> FilePath {
        FilePath(staged(hash, session: session, number: number).string + asideSuffix)
    }

    private static let asideSuffix = ".aside"

    /// The key's hash in the name of a file that was moved aside, or `nil` for a name that is not one.
    static func hash(ofAside name: FilePath.Component) -> KeyHash? {
        stagedName(ofAside: name).flatMap(hash(ofStaged:))
    }

    /// The staged name in the name of a file that was moved aside, or `nil` for a name that is not one.
    static func stagedName(ofAside name: FilePath.Component) -> FilePath.Component? {
        guard name.string.hasSuffix(asideSuffix) else { return nil }
        return FilePath.Component(String(name.string.dropLast(asideSuffix.count)))
    }

    private static let asidePrefix = ".PrefetchCache-"
    /// Short enough that, with its prefix, every file system accepts the name.
    private static let longestAsideName = 100

    /// A hidden name for a file with that name which is moved aside where it is.
    static func aside(_ name: FileName, session: String, number: UInt64) -> FilePath {
        FilePath("\(asidePrefix)\(session)-\(number)-\(name.shortened(to: longestAsideName))")
    }

    /// The name that a file had before it was moved aside, if it is not too long, or `nil` for a name that is not one.
    static func name(ofAside name: FilePath.Component) -> FileName? {
        let parts = name.string.split(separator: "-", maxSplits: 3, omittingEmptySubsequences: false)
        guard parts.count == 4, "\(parts[0])-" == asidePrefix,
            let start = FilePath.Component("\(parts[1])-\(parts[2])"), session(of: start) != nil
        else { return nil }
        do {
            return try FileName(String(parts[3]))
        } catch {
            return nil
        }
    }

    /// The key's hash in a name under ``staging``, or `nil` for a name that is not ours.
    static func hash(ofStaged name: FilePath.Component) -> KeyHash? {
        let text = name.string
        guard text.utf8.count > 33, text.dropFirst(32).first == "-",
            session(of: FilePath.Component(String(text.dropFirst(33))) ?? name) != nil
        else { return nil }
        return KeyHash(hexadecimal: String(text.prefix(32)))
    }
}

extension AreaPath {
    static let staging = ours(CacheLayout.staging, in: .applicationSupport)
    static let incoming = ours(CacheLayout.incoming, in: .caches)
    static let quarantine = ours(CacheLayout.quarantine, in: .caches)
    static let catalog = ours(FilePath(CacheLayout.catalog), in: .caches)

    /// The location of an item's file.
    static func item(_ hash: KeyHash) -> AreaPath {
        ours(CacheLayout.items.pushing(CacheLayout.file(of: hash)), in: .caches)
    }

    /// A location below our root in an area.
    static func ours(_ path: FilePath, in area: Area) -> AreaPath {
        guard let location = AreaPath(area: area, relative: CacheLayout.root.pushing(path)) else {
            preconditionFailure("digits and plain names make no component '..'")
        }
        return location
    }
}

extension FilePermissions {
    /// The permission to execute for everybody who may read.
    var executing: FilePermissions {
        FilePermissions(rawValue: intersection([.ownerRead, .groupRead, .otherRead]).rawValue >> 2)
    }
}

extension UInt8 {
    var isDecimal: Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self) }
    var isLowercaseHexadecimal: Bool { isDecimal || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(self) }
}
