import Foundation
import GRDBSQLite
import SystemPackage
import Testing

@testable import PrefetchCaching
@testable import PrefetchStorageAreas

/// SQLite opens no path of more than 512 bytes, its journal's included.
@Suite struct LongPathTests {
    enum Database: CaseIterable {
        case catalog, ledger

        /// The area's part of the path is filled up so that the database's path has this many bytes.
        func area(in root: URL, length: Int) -> FilePath {
            let below = "/PrefetchCache/" + (self == .catalog ? CacheLayout.catalog : CacheLayout.record)
            var path = root.path
            while true {
                let rest = length - below.utf8.count - path.utf8.count
                // No name has more than 255 bytes.
                guard rest > 200 else {
                    return FilePath(path + "/" + String(repeating: "x", count: rest - 1))
                }
                path += "/" + String(repeating: "y", count: 99)
            }
        }

        func areas(_ area: FilePath, in container: TemporaryContainer) throws -> StorageAreas {
            let usual = try container.areas()
            return StorageAreas(
                documents: usual.documents,
                applicationSupport: self == .ledger ? area : usual.applicationSupport,
                caches: self == .catalog ? area : usual.caches, temporary: usual.temporary,
                iCloudDrive: usual.iCloudDrive, excludedFolder: usual.excludedFolder)
        }
    }

    private let container = TemporaryContainer.make()
    private let root: URL
    private let longest: Int

    init() throws {
        root = container.root.resolvingSymlinksInPath()
        longest = Int(try #require(sqlite3_vfs_find(nil)).pointee.mxPathname) - "-journal".utf8.count
    }

    @Test(arguments: Database.allCases)
    func theLongestPathThatSQLiteOpensHoldsACache(_ database: Database) throws {
        let area = database.area(in: root, length: longest)
        let engine = try container.engine(areas: database.areas(area, in: container))
        try engine.store(prose(3000), "key")
        try engine.store(prose(3000), "opened")
        #expect(try engine.open("opened").value?.isFirstOpen == true)
        try engine.flush()
        #expect(try engine.items().map(\.key) == ["key"])
        try engine.close()
    }

    private func isRefused(_ error: any Error) -> Bool {
        guard case CacheError.pathTooLong(_, let bytes, let limit) = error else { return false }
        return bytes == longest + 1 && limit == longest
            && "\(error)".contains("\(bytes) bytes, and SQLite opens at most \(limit)")
    }

    @Test(arguments: Database.allCases)
    func aLongerPathIsRefusedBeforeAnythingIsMade(_ database: Database) throws {
        let area = database.area(in: root, length: longest + 1)
        #expect {
            try container.engine(areas: database.areas(area, in: container))
        } throws: {
            isRefused($0)
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: container.root.path).isEmpty)
    }

    /// SQLite resolves links.
    @Test(arguments: Database.allCases)
    func aLinkDoesNotShortenAPath(_ database: Database) throws {
        let area = database.area(in: root, length: longest + 1)
        try FileManager.default.createDirectory(atPath: area.string, withIntermediateDirectories: true)
        let link = root.appending(path: "link")
        try FileManager.default.createSymbolicLink(atPath: link.path, withDestinationPath: area.string)
        #expect {
            try container.engine(areas: database.areas(FilePath(link.path), in: container))
        } throws: {
            isRefused($0)
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: area.string).isEmpty)
    }
}
