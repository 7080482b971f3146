internal import Foundation
internal import GRDB
internal import PrefetchFileSystem
package import PrefetchItemFormat
package import PrefetchStorageAreas
package import SystemPackage

/// One promotion. Locations are relative to their areas, since absolute paths change with every update of an app.
package struct LedgerEntry: Sendable, Hashable {
    /// The raw values are stored.
    package enum State: Int, Sendable {
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

    /// Where the file under the name comes from. A file that the cache did not write is never purged, marked or
    /// unmarked. The raw values are stored.
    package enum Origin: Int, Sendable {
        /// It is the staged file.
        case written = 1
        /// It was there already, with the same content.
        case adopted = 2
    }

    package var key: ItemKey
    package var state: State
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
    package var contentBytes: Int64
    var contentChecksum: UInt64
    /// The file's name in the staging folder of its volume.
    package var stagedName: String
    /// The inode of the staged file and its creation time in nanoseconds since 1970, `nil` where unknown.
    /// Together they identify the file under its final name. The inode alone does not: it is reused after its
    /// file is deleted, and is meaningless in a ledger from a backup.
    var inode: UInt64
    var birthTime: Int64?
    /// When the item was opened, in milliseconds since 1970.
    package var openedAt: Int64
    package var origin = Origin.written
    /// `nil` for a file that was migrated.
    package var provenance: Provenance?
    /// The files of a bundle, whose folder is what this says of a file; empty for a single file.
    package var parts: [BundlePart] = []
    /// What is about to take its place; `nil` for nothing.
    var successor: Successor?

    /// Whether something was begun that a crash may have interrupted.
    var isUnfinished: Bool { state == .intent || successor != nil }

    /// How what is under the name is opened for reading …
    var openMode: OpenMode { parts.isEmpty ? .read : .directory }
    /// … and without that counting as a use.
    var examiningMode: OpenMode { parts.isEmpty ? .readWithoutAccessTime : .directory }

    /// What is under the name.
    var kind: FileAttributes.Kind { parts.isEmpty ? .regular : .directory }

    /// The location of the file.
    package var location: AreaPath { .promoted(name, in: area, folder) }

    /// The files, by their paths in the area: one or, of a bundle, one for each part.
    package var files: [(path: FilePath, contentBytes: Int64)] {
        guard !parts.isEmpty else { return [(location.relative, contentBytes)] }
        return parts.map { (location.relative.pushing($0.path.path), $0.contentBytes) }
    }

    /// Whether the file must not be in backups. One that was adopted is the user's, and the item's policy does not
    /// apply to it.
    package var isExcluded: Bool { backup == .exclude && !isAdopted }

    /// Whether the file was there already.
    package var isAdopted: Bool { origin == .adopted }
}

extension AreaPath {
    /// The location of a promoted file.
    static func promoted(_ name: FileName, in area: Area, _ folder: FolderPath?) -> AreaPath {
        let relative = SupportFolders.relativePath(in: area, folder).pushing(name.path)
        guard let location = AreaPath(area: area, relative: relative) else {
            preconditionFailure("neither a file name nor a folder has a component '..'")
        }
        return location
    }
}

extension LedgerEntry {
    /// In bytes. No volume is larger, and sums of it do not overflow.
    private static let longestContent: Int64 = 1 << 60

    /// In the order of the values below, in every statement.
    private static let columns = [
        "hash", "key", "state", "mode", "area", "folder", "name", "plainName", "backup", "contentLength",
        "contentChecksum", "stagedName", "inode", "birthTime", "openedAt", "origin", "storedAt", "source",
        "intent", "entityTag", "lastModified", "url", "attributes", "parts",
        "successor",
    ]

    static let select = "SELECT \(columns.joined(separator: ", ")) FROM promotion"

    static let upsert = """
        INSERT INTO promotion (\(columns.joined(separator: ", ")))
        VALUES (\(columns.map { _ in "?" }.joined(separator: ", ")))
        ON CONFLICT (hash) DO UPDATE SET
            \(columns.dropFirst().map { "\($0) = excluded.\($0)" }.joined(separator: ", "))
        WHERE ? OR (promotion.stagedName = ? AND promotion.state = ?)
        RETURNING EXISTS (\(placeOfAnother))
        """

    /// With the state spelt out, as the index has it.
    static let placeOfAnother = """
        SELECT 1 FROM promotion AS other
        WHERE other.name = ? COLLATE NOCASE AND other.folder = ? COLLATE NOCASE AND other.area = ?
            AND other.hash <> ? AND other.state = \(State.committed.rawValue)
        """

    /// Whether a row is that of a bundle whose folder has a folder in it, or is that: its path ends with a slash.
    static let enclosure = """
        parts IS NOT NULL AND area = ? AND substr(?, 1, length(folder || '/' || name) + (folder <> '')) =
            CASE folder WHEN '' THEN '' ELSE folder || '/' END || name || '/' COLLATE NOCASE
        """

    /// Of ``placeOfAnother``.
    var place: [(any DatabaseValueConvertible)?] {
        [name.string, folder?.string ?? "", Int(area.rawValue), key.hash.data]
    }

    private var values: [(any DatabaseValueConvertible)?] {
        let attributes = provenance?.attributes ?? []
        return [
            key.hash.data, key.string, state.rawValue, mode.rawValue, Int(area.rawValue),
            folder?.string ?? "", name.string, plainName.string, Int(backup.rawValue), contentBytes,
            Int64(bitPattern: contentChecksum), stagedName, Int64(bitPattern: inode), birthTime, openedAt,
            origin.rawValue, provenance?.storedAt, provenance?.source ?? "",
            Int((provenance?.intent ?? .opportunistic).rawValue), provenance?.validator.entityTag ?? "",
            provenance?.validator.lastModified ?? "", provenance?.url?.absoluteString ?? "",
            attributes.isEmpty ? nil : Data(attributes), parts.isEmpty ? nil : Data(parts.encoded()),
            successor?.encoded,
        ]
    }

    /// - Returns: `nil` for an invalid row, one that this code could not have written. The ledger may come from a
    ///   backup, and names and lengths in it are acted upon: a staged file is removed by its name.
    init?(_ row: Row) {
        do {
            let key = try ItemKey(try row.value(1))
            let name = try FileName(try row.value(6))
            let contentBytes: Int64 = try row.value(9)
            let stagedName: String = try row.value(11)
            let parts = try row.value(23, as: Data?.self).map { try [BundlePart](stored: $0) } ?? []
            guard let state = State(rawValue: try row.value(2)), let mode = Mode(rawValue: try row.value(3)),
                let area = Area(rawValue: try row.value(4)),
                let backup = BackupPolicy(rawValue: try row.value(8)),
                let origin = Origin(rawValue: try row.value(15)),
                (0...Self.longestContent).contains(contentBytes),
                parts.isEmpty || parts.contentBytes == contentBytes,
                let component = FilePath.Component(stagedName),
                CacheLayout.hash(ofStaged: component) == key.hash
            else { return nil }
            self.init(
                key: key, state: state, mode: mode, area: area,
                folder: try FolderPath?(stored: try row.value(5)), name: name,
                plainName: try FileName(try row.value(7)), backup: backup,
                contentBytes: contentBytes, contentChecksum: UInt64(bitPattern: try row.value(10)),
                stagedName: stagedName, inode: UInt64(bitPattern: try row.value(12)),
                birthTime: try row.value(13), openedAt: try row.value(14), origin: origin,
                provenance: try Provenance(row), parts: parts,
                successor: try row.value(24, as: Data?.self).flatMap { Successor($0, of: key) })
        } catch {
            return nil
        }
    }

    /// The entry of a key.
    static func fetch(_ hash: KeyHash, from database: Database) throws -> LedgerEntry? {
        try Row.fetchOne(
            database.cachedStatement(sql: select + " WHERE hash = ?"), arguments: [hash.data]
        ).flatMap(LedgerEntry.init)
    }

    /// Writes the entry, if the row of its key is still that of `old`. An existing row is updated in place:
    /// replacing it would insert a new one, and write more pages.
    ///
    /// - Parameter old: `nil` when there must be none.
    /// - Returns: Whether its place is another key's; `nil` if it was not written.
    func write(replacing old: LedgerEntry?, to database: Database) throws -> Bool? {
        if let isAnothers = try write(over: old, isForced: false, to: database) { return isAnothers }
        // An invalid row counts as absent.
        guard old == nil, try Self.fetch(key.hash, from: database) == nil else { return nil }
        return try write(over: nil, isForced: true, to: database)
    }

    private func write(over old: LedgerEntry?, isForced: Bool, to database: Database) throws -> Bool? {
        let condition: [(any DatabaseValueConvertible)?] = [
            isForced, old?.stagedName ?? "", old?.state.rawValue ?? 0,
        ]
        // No staged file has an empty name, so that without `old` only a new row is written. All rows are fetched: a commit
        // that fails says so after the last.
        return try Bool.fetchAll(
            database.cachedStatement(sql: Self.upsert),
            arguments: StatementArguments(values + condition + place)
        ).first
    }

    /// Writes another state into the row of the entry, if it is still there as it was.
    ///
    /// - Returns: Whether it was written.
    func enter(_ new: State, in database: Database) throws -> Bool {
        try database.cachedStatement(
            sql: "UPDATE promotion SET state = ? WHERE hash = ? AND stagedName = ? AND state = ?"
        ).execute(arguments: [new.rawValue, key.hash.data, stagedName, state.rawValue])
        return database.changesCount > 0
    }

    /// Deletes the row of the entry, if it is still there as it was.
    ///
    /// - Returns: Whether it was deleted.
    func delete(from database: Database) throws -> Bool {
        try database.execute(
            sql: "DELETE FROM promotion WHERE hash = ? AND stagedName = ? AND state = ?",
            arguments: [key.hash.data, stagedName, state.rawValue])
        return database.changesCount > 0
    }
}

extension Provenance {
    /// - Returns: `nil` if none was recorded. An unusable URL counts as none.
    fileprivate init?(_ row: Row) throws {
        guard let storedAt = try row.value(16, as: Int64?.self),
            let intent = Intent(rawValue: try row.value(18))
        else { return nil }
        self.init(
            source: try row.value(17), intent: intent,
            validator: Validator(entityTag: try row.text(19), lastModified: try row.text(20)),
            url: try row.text(21).flatMap(URL.init(string:)),
            attributes: try row.value(22, as: Data?.self).map(Array.init) ?? [], storedAt: storedAt)
    }
}

extension [BundlePart] {
    fileprivate init(stored data: Data) throws(ItemFormatError) {
        self = try [UInt8](data).withBytes { bytes throws(ItemFormatError) in
            try [BundlePart](decoding: bytes)
        }
    }
}

extension Row {
    /// A text, or `nil` if it is empty.
    fileprivate func text(_ index: Int) throws -> String? {
        let text: String = try value(index)
        return text.isEmpty ? nil : text
    }
}

/// A compare-and-swap of one row of the ledger. It backs up the key locks: of two processes that both believe to hold
/// one, only one can proceed.
struct LedgerChange: Sendable, Hashable {
    /// What must be there; `nil` for nothing.
    let old: LedgerEntry?
    /// What takes its place; `nil` to remove it.
    let new: LedgerEntry?

    /// That an entry is there, on which other changes depend. Nothing is written.
    static func requiring(_ entry: LedgerEntry) -> LedgerChange { LedgerChange(old: entry, new: entry) }

    /// Whether nothing but the state changes.
    var isOfState: Bool {
        guard var entry = old, let new, entry.state != new.state else { return false }
        entry.state = new.state
        return entry == new
    }

    /// - Returns: Whether the place of what was written is another key's; `nil` if the row was not as expected.
    func make(in database: Database) throws -> Bool? {
        if let new, old != new {
            guard let old, isOfState else { return try new.write(replacing: old, to: database) }
            return try old.enter(new.state, in: database) ? false : nil
        }
        guard let old else { return false }
        let isMade =
            try new == nil
            ? old.delete(from: database) : LedgerEntry.fetch(old.key.hash, from: database) == old
        return isMade ? false : nil
    }
}

extension LedgerEntry {
    /// Whether two promotions are of the same content.
    func hasContent(of other: LedgerEntry) -> Bool {
        contentBytes == other.contentBytes && contentChecksum == other.contentChecksum && parts == other.parts
    }

    /// Whether its file is in the folder of a bundle. Names that differ in the case of letters `A` to `Z` count as one.
    func isInside(_ bundle: LedgerEntry) -> Bool {
        guard !bundle.parts.isEmpty, bundle.area == area, let folder else { return false }
        let place = (bundle.folder.map { [$0.string] } ?? []) + [bundle.name.string, ""]
        return (folder.string + "/").utf8.lazy.map(Self.folded)
            .starts(with: place.joined(separator: "/").utf8.lazy.map(Self.folded))
    }

    private static func folded(_ byte: UInt8) -> UInt8 {
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 : byte
    }

    /// The same promotion, of a file that was there already.
    var adopted: LedgerEntry {
        var entry = self
        entry.origin = .adopted
        return entry
    }
}
