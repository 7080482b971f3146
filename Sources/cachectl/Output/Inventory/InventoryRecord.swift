internal import FileSystem
internal import PrefetchCache
internal import StorageInventory
internal import SystemPackage

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// An inventory as JSON. Names and meanings do not change within one `schemaVersion`.
struct InventoryRecord: Encodable {
    struct Group: Encodable {
        let area: String
        let kind: String
        let files: Int
        let bytes: Int64
        let allocatedBytes: Int64
        let backedUpBytes: Int64
    }

    struct Totals: Encodable {
        let files: Int
        let folders: Int
        let bytes: Int64
        let allocatedBytes: Int64
        let folderAllocatedBytes: Int64
        let documentsAndDataBytes: Int64
        let cachesAndTemporaryBytes: Int64
    }

    struct Backup: Encodable {
        let projectedBytes: Int64
        let wantedBytes: Int64
        let excludedBytes: [String: Int64]
    }

    struct Problem: Encodable {
        let path: PathRecord
        let reason: String

        init(_ problem: StorageInventory.Problem) {
            path = PathRecord(problem.path)
            reason = problem.reason
        }
    }

    let groups: [Group]
    let totals: Totals
    let backup: Backup
    let vanished: Int
    let problems: [Problem]

    init(_ inventory: StorageInventory, _ selection: InventorySelection) {
        let totals = InventoryTotals(of: inventory, only: selection.contains)
        groups = totals.groups.map {
            Group(
                area: $0.area.choiceName, kind: $0.kind.rawValue, files: $0.files, bytes: $0.length,
                allocatedBytes: $0.allocated, backedUpBytes: $0.backedUp)
        }
        self.totals = Totals(
            files: totals.files, folders: totals.folders, bytes: totals.length,
            allocatedBytes: totals.allocated, folderAllocatedBytes: totals.folderAllocation,
            documentsAndDataBytes: totals.documentsAndData,
            cachesAndTemporaryBytes: totals.cachesAndTemporary)
        backup = Backup(
            projectedBytes: totals.backupLength, wantedBytes: totals.wantedBackupLength,
            excludedBytes: totals.excludedLength)
        vanished = inventory.vanished
        problems = inventory.problems.map(Problem.init)
    }

    /// Prints the object with the files in it, which are too many for one value.
    func print(
        withFiles: Bool, _ inventory: StorageInventory, _ selection: InventorySelection, to output: Output
    ) throws {
        guard withFiles else { return try output.print(json: self) }
        try output.print(
            json: selection.sortedFiles(of: inventory).lazy.map { FileRecord($0, of: inventory) },
            as: "files", behind: self)
    }
}

/// A path in JSON, which cannot represent bytes that are not text.
struct PathRecord: Encodable {
    let text: String
    /// All bytes, in Base64; only for a path that is not UTF-8.
    let base64: String?

    init(_ path: FilePath) {
        text = path.displayText
        base64 = path.isText ? nil : Data(path.bytes).base64EncodedString()
    }

    func encode(to encoder: any Encoder) throws {
        guard let base64 else {
            var container = encoder.singleValueContainer()
            return try container.encode(text)
        }
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(text, forKey: .text)
        try container.encode(base64, forKey: .base64)
    }

    private enum CodingKeys: CodingKey {
        case text, base64
    }
}

/// One file of an inventory as JSON.
struct FileRecord: Encodable {
    struct Backup: Encodable {
        let wanted: Bool
        let actual: Bool
        let excludedBy: [String]
    }

    let path: PathRecord
    let area: String
    let kind: String
    let bytes: Int64
    let allocatedBytes: Int64
    /// Present only when the bytes were counted under another name of the same file.
    let countedElsewhere: Bool?
    let modifiedAtMilliseconds: Int64
    let visible: Bool
    let purgeable: Bool
    let backup: Backup
    // The known reasons why the file is there; left out when unknown.
    let key: String?
    let source: String?
    let intent: String?
    let contentBytes: Int64?
    let sinceMilliseconds: Int64?

    init(_ file: InventoryFile, of inventory: StorageInventory) {
        path = PathRecord(inventory.path(of: file))
        area = file.area.choiceName
        kind = file.kind.rawValue
        bytes = file.length
        allocatedBytes = file.allocated
        countedElsewhere = file.isCountedElsewhere ? true : nil
        modifiedAtMilliseconds = file.modified
        visible = file.isVisible
        purgeable = file.isPurgeable
        backup = Backup(
            wanted: file.isBackupWanted, actual: file.isBackedUp, excludedBy: file.exclusions.names)
        key = file.facts?.key
        source = file.facts?.source
        intent = file.facts?.isUserRequested.map {
            $0 ? Intent.userRequested.name : Intent.opportunistic.name
        }
        contentBytes = file.facts?.contentLength
        sinceMilliseconds = file.facts?.since
    }
}
