internal import Foundation
internal import PrefetchFileSystem
internal import StorageInventory
internal import SystemPackage

/// What was created, changed and removed between two inventories.
struct InventoryDiff {
    struct Change {
        enum Kind: String { case created, changed, removed }

        let kind: Kind
        /// `nil` for a created file.
        let before: SavedInventory.File?
        /// `nil` for a removed file.
        let after: SavedInventory.File?

        /// The later of the two.
        var file: SavedInventory.File? { after ?? before }
    }

    /// In the order of paths, by their bytes.
    let changes: [Change]
    /// When the first inventory was taken, in milliseconds since 1970.
    let since: Int64

    /// - Complexity: O(*n* log *n*) in the number of files.
    init(from old: SavedInventory, to new: SavedInventory) {
        since = old.takenAtMilliseconds
        // Paths of an app on Linux are those in its areas.
        struct Place: Hashable {
            let (area, path): (String, FilePath)

            init(_ file: SavedInventory.File) { (area, path) = (file.area, file.path) }
        }
        var before = Dictionary(old.files.map { (Place($0), $0) }) { first, _ in first }
        var changes: [Change] = []
        for file in new.files {
            let earlier = before.removeValue(forKey: Place(file))
            if let earlier, earlier == file { continue }
            changes.append(Change(kind: earlier == nil ? .created : .changed, before: earlier, after: file))
        }
        changes += before.values.map { Change(kind: .removed, before: $0, after: nil) }
        self.changes = changes.sorted {
            ($0.file?.path.bytes ?? []).lexicographicallyPrecedes($1.file?.path.bytes ?? [])
        }
    }

    /// Bytes by which a sum over the changes grew.
    private func growth(_ bytes: (SavedInventory.File) -> Int64) -> Int64 {
        changes.reduce(0) { $0 + ($1.after.map(bytes) ?? 0) - ($1.before.map(bytes) ?? 0) }
    }

    private var growth: Int64 { growth(\.bytes) }
    private var backupGrowth: Int64 { growth { $0.backup.actual ? $0.bytes : 0 } }

    var lines: [String] {
        let time = Timestamp.text(milliseconds: since)
        guard !changes.isEmpty else { return ["nothing has changed since \(time)"] }
        var table = TextTable([.left, .left, .left, .right, .right, .left, .left])
        table.add(["CHANGE", "AREA", "KIND", "BEFORE", "AFTER", "BACKUP", "PATH"])
        for change in changes {
            guard let file = change.file else { continue }
            table.add([
                change.kind.rawValue, file.area, file.kind, Self.size(change.before), Self.size(change.after),
                file.backup.actual ? "yes" : "no", file.path.displayText,
            ])
        }
        let count = { (kind: Change.Kind) in changes.count { $0.kind == kind } }
        return table.lines + [
            "",
            "since \(time): \(count(.created)) created, \(count(.changed)) changed, "
                + "\(count(.removed)) removed; \(Self.signed(growth)), and \(Self.signed(backupGrowth)) in a backup",
        ]
    }

    private static func size(_ file: SavedInventory.File?) -> String {
        file.map { Size.text($0.bytes) } ?? "-"
    }

    private static func signed(_ bytes: Int64) -> String {
        bytes < 0 ? "-\(Size.text(-bytes))" : "+\(Size.text(bytes))"
    }

    var json: JSONObject {
        [
            "sinceMilliseconds": since, "bytes": growth, "backedUpBytes": backupGrowth,
            "changes": changes.map { change -> JSONObject in
                [
                    "change": change.kind.rawValue, "path": change.file?.path.json, "area": change.file?.area,
                    "kind": change.file?.kind, "bytesBefore": change.before?.bytes,
                    "bytesAfter": change.after?.bytes, "backedUpBefore": change.before?.backup.actual,
                    "backedUpAfter": change.after?.backup.actual,
                ]
            },
        ]
    }
}

/// An inventory as `inventory --save` wrote it.
struct SavedInventory: Decodable {
    struct File: Decodable, Hashable {
        struct Backup: Decodable, Hashable {
            let actual: Bool
        }

        let path: FilePath
        let area: String
        let kind: String
        let bytes: Int64
        let modifiedAtMilliseconds: Int64
        let backup: Backup

        init(_ file: InventoryFile, of inventory: FileInventory) {
            path = inventory.path(of: file)
            area = file.area.choiceName
            kind = file.kind.rawValue
            bytes = file.length
            modifiedAtMilliseconds = file.modified
            backup = Backup(actual: file.isBackedUp)
        }

        private enum CodingKeys: CodingKey {
            case path, area, kind, bytes, modifiedAtMilliseconds, backup
        }

        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            path = try container.decode(PathText.self, forKey: .path).path
            area = try container.decode(String.self, forKey: .area)
            kind = try container.decode(String.self, forKey: .kind)
            bytes = try container.decode(Int64.self, forKey: .bytes)
            modifiedAtMilliseconds = try container.decode(Int64.self, forKey: .modifiedAtMilliseconds)
            backup = try container.decode(Backup.self, forKey: .backup)
        }
    }

    let takenAtMilliseconds: Int64
    let files: [File]

    private let schemaVersion: Int

    /// In bytes; a million files take half of it.
    private static let limit = 1 << 30

    init(of inventory: FileInventory) {
        takenAtMilliseconds = Timestamp.now
        files = inventory.files.map { File($0, of: inventory) }
        schemaVersion = JSON.schemaVersion
    }

    /// - Throws: ``CommandFailure`` if the file cannot be read, or is not a saved inventory of this version.
    init(at path: FilePath) throws(CommandFailure) {
        let input = try InputFile(path)
        var content = Data(count: Int(input.length ?? Int64(Self.limit)) + 1)
        let length = try input.read(into: &content)
        do {
            self = try JSONDecoder().decode(SavedInventory.self, from: content.prefix(length))
        } catch {
            throw CommandFailure(
                .damaged,
                "\(input.name) is not a saved inventory; write one with 'inventory --save <file>'")
        }
        guard schemaVersion == JSON.schemaVersion else {
            throw CommandFailure(
                .damaged,
                "\(input.name) has version \(schemaVersion), which is not \(JSON.schemaVersion); update this software"
            )
        }
    }

    var json: JSONObject {
        [
            "takenAtMilliseconds": takenAtMilliseconds,
            "files": files.map { file -> JSONObject in
                [
                    "path": file.path.json, "area": file.area, "kind": file.kind, "bytes": file.bytes,
                    "modifiedAtMilliseconds": file.modifiedAtMilliseconds,
                    "backup": ["actual": file.backup.actual] as JSONObject,
                ]
            },
        ]
    }
}

/// A path as JSON has it: a string or, for one that is not UTF-8, an object with its bytes.
struct PathText: Decodable {
    let path: FilePath

    private enum CodingKeys: CodingKey {
        case base64
    }

    init(from decoder: any Decoder) throws {
        do {
            path = FilePath(try decoder.singleValueContainer().decode(String.self))
        } catch DecodingError.typeMismatch {
            let data = try decoder.container(keyedBy: CodingKeys.self).decode(Data.self, forKey: .base64)
            path = FilePath(bytes: Array(data))
        }
    }
}
