internal import GRDB
internal import ItemFormat
internal import StorageAreas
internal import SystemPackage

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// One promotion. Places are relative to their areas, since absolute paths change with every update of an
/// app.
struct LedgerEntry: Sendable, Hashable {
    /// The raw values are stored.
    enum State: Int, Sendable {
        /// Everything is prepared; the file may or may not have its name yet.
        case intent = 1
        /// The file is durable under its name.
        case committed = 2
    }

    /// How the content gets into the staged file. The raw values are stored.
    enum Mode: Int, Sendable {
        /// Decoded into a new file before the intent was entered.
        case decode = 1
        /// The item's own file, renamed, with its footer cut off.
        case rename = 2
    }

    var key: ItemKey
    var state: State
    var mode: Mode
    /// The location of the file: the area, the folder below it, and the name.
    var area: Area
    var folder: FolderPath?
    /// The name that the file has or is about to get: the plain name, possibly with a number.
    var name: FileName
    /// The name that the item asked for.
    var plainName: FileName
    var backup: BackupPolicy
    /// Bytes of content.
    var contentLength: Int64
    var contentChecksum: UInt64
    /// The file's name in the staging folder of its volume.
    var stagedName: String
    /// The inode of the staged file and its creation time in nanoseconds since 1970, `nil` where unknown.
    /// Together they identify the file under its final name. The inode alone does not: it is reused after its
    /// file is deleted, and is meaningless in a ledger from a backup.
    var inode: UInt64
    var birthTime: Int64?
    /// When the item was opened, in milliseconds since 1970.
    var openedAt: Int64
}

extension LedgerEntry {
    /// In bytes. No volume is larger, and sums of it do not overflow.
    private static let longestContent: Int64 = 1 << 60

    static let select = """
        SELECT key, state, mode, area, name, backup, contentLength, contentChecksum, stagedName,
            inode, openedAt, folder, plainName, birthTime, hash
        FROM promotion
        """

    /// - Returns: `nil` for a row that this code could not have written. The ledger may come from a backup, and
    ///   a name or a length in it is used: a staged file is removed by its name.
    init?(_ row: Row) {
        do {
            let key = try ItemKey(try row.value(0))
            let name = try FileName(try row.value(4))
            let folder = try FolderPath?(stored: try row.value(11))
            let plainName: String = try row.value(12)
            let contentLength: Int64 = try row.value(6)
            let stagedName: String = try row.value(8)
            guard let state = State(rawValue: try row.value(1)), let mode = Mode(rawValue: try row.value(2)),
                let area = Area(rawValue: try row.value(3)),
                let backup = BackupPolicy(rawValue: try row.value(5)),
                (0...Self.longestContent).contains(contentLength),
                let component = FilePath.Component(stagedName),
                CacheLayout.hash(ofStaged: component) == key.hash
            else { return nil }
            self.init(
                key: key, state: state, mode: mode, area: area, folder: folder, name: name,
                plainName: plainName.isEmpty ? name : try FileName(plainName), backup: backup,
                contentLength: contentLength, contentChecksum: UInt64(bitPattern: try row.value(7)),
                stagedName: stagedName, inode: UInt64(bitPattern: try row.value(9)),
                birthTime: try row.value(13), openedAt: try row.value(10))
        } catch {
            return nil
        }
    }

    /// Updates an existing row in place: replacing it would insert a new one, and write more pages.
    func write(to database: Database) throws {
        try database.cachedStatement(
            sql: """
                INSERT INTO promotion (hash, key, state, mode, area, name, backup, contentLength,
                    contentChecksum, stagedName, inode, openedAt, folder, plainName, birthTime)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                ON CONFLICT (hash) DO UPDATE SET
                    key = excluded.key, state = excluded.state, mode = excluded.mode,
                    area = excluded.area, name = excluded.name, backup = excluded.backup,
                    contentLength = excluded.contentLength, contentChecksum = excluded.contentChecksum,
                    stagedName = excluded.stagedName, inode = excluded.inode,
                    openedAt = excluded.openedAt, folder = excluded.folder,
                    plainName = excluded.plainName, birthTime = excluded.birthTime
                """
        ).execute(
            arguments: [
                key.hash.data, key.string, state.rawValue, mode.rawValue, Int(area.rawValue), name.string,
                Int(backup.rawValue), contentLength, Int64(bitPattern: contentChecksum), stagedName,
                Int64(bitPattern: inode), openedAt, folder?.string ?? "", plainName.string,
                birthTime,
            ])
    }
}
