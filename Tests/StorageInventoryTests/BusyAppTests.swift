import FileSystemTestSupport
import Foundation
import PrefetchCaching
import PrefetchFileSystem
import Synchronization
import SystemPackage
import Testing

@testable import StorageInventory

/// What an app does while an inventory is taken is not held against it.
@Suite final class BusyAppTests: ContainerSuite {
    override init() async throws {
        try await super.init()
        let cache = try await container.cache()
        for (key, destination) in Self.items {
            let metadata = ItemMetadata(key: key, destination: destination)
            _ = try await cache.store(content(key.string), as: metadata)
        }
        try await cache.close()
    }

    private static let items: [(ItemKey, Destination)] = [
        ("hidden", .applicationSupport("Hidden.txt", backup: .include)),
        ("excluded", .applicationSupport("Excluded.txt", backup: .exclude)),
        ("visible", .documents("Visible.txt", backup: .include)),
    ]

    /// Before the walk looks into a folder of opened files; and when it is over, before the ledger is read.
    @Test(arguments: [
        ("entries", "files"), ("entries", "Documents"), ("attributes", "record.sqlite"),
    ])
    func whatIsOpenedMeanwhileIsNeitherAbandonedNorMissing(kind: String, name: String) throws {
        let opens = Mutex(0)
        let fileSystem = InterceptingFileSystem(isOutside: true) { [container] operation in
            guard operation.kind.rawValue == kind, operation.name == name else { return }
            let isFirst = opens.withLock { opens in
                opens += 1
                return opens == 1
            }
            guard isFirst else { return }
            do {
                let outcome = try BuiltTool.run(["open"] + Self.items.map(\.0.string), on: container)
                #expect(outcome.status == 0, "\(outcome)")
            } catch {
                Issue.record(error)
            }
        }
        let inventory = try container.inventory(fileSystem)
        #expect(opens.withLock { $0 } > 0)
        #expect(inventory.problems == [])
        #expect(findings(of: inventory) == [])
        let names = ["Hidden.txt", "Excluded.txt", "Visible.txt"]
        for file in inventory.files where names.contains(file.name.string) {
            #expect(file.kind == FileKind.promoted)
            #expect(file.isBackupIntended == (file.name.string != "Excluded.txt"))
        }
    }

    /// A writer was done, and its process too, before the check.
    @Test func whatIsGoneByNowIsNotAbandoned() throws {
        let partial = "Library/Caches/PrefetchCache/incoming/0123456789abcdef-1"
        let foreign = "Library/Application Support/PrefetchCache/files/purged.txt"
        try write("half", to: partial)
        try write("gone", to: foreign)
        let inventory = try container.inventory()
        #expect(findings(of: inventory).map(\.rule.name) == ["abandoned", "abandoned"])
        for path in [partial, foreign] { try container.remove(path) }
        #expect(findings(of: inventory) == [])
    }
}
