import FileSystemTestSupport
import Foundation
import PrefetchFileSystem
import Synchronization
import SystemPackage
import Testing

@testable import PrefetchCaching

/// While a device is locked, its files cannot be opened. That says nothing about them: nothing is set aside, removed or
/// built anew.
@Suite struct LockedDeviceTests {
    private let container = TemporaryContainer.make()
    private let device = Device()

    /// One whose files can be locked.
    private final class Device: Sendable {
        let isLocked = Atomic<Bool>(false)

        func fileSystem(below root: URL) -> InterceptingFileSystem {
            InterceptingFileSystem { [self] operation throws(FileSystemError) in
                guard isLocked.load(ordering: .relaxed), let path = operation.path,
                    operation.kind == .open || operation.kind == .read || operation.kind == .write
                else { return }
                var isFolder: ObjCBool = false
                let exists = FileManager.default.fileExists(atPath: path, isDirectory: &isFolder)
                guard path.hasPrefix(root.path), exists, !isFolder.boolValue else { return }
                throw FileSystemError("\(operation.kind)", path: FilePath(path), errno: .ofLockedDevice)
            }
        }
    }

    init() throws {
        let engine = try container.engine()
        try engine.store(prose(50_000), "item")
        try engine.store(prose(50_000, seed: 2), "Doc.txt")
        _ = try engine.open("Doc.txt")
        try engine.close()
    }

    private func expectLocked<Result>(
        _ location: SourceLocation = #_sourceLocation, _ call: () throws(CacheError) -> Result
    ) {
        do {
            _ = try call()
            Issue.record("it succeeded", sourceLocation: location)
        } catch {
            guard case .locked = error.reported else {
                Issue.record(error, sourceLocation: location)
                return
            }
        }
    }

    private func expectNothingLost() throws {
        #expect(try container.files(below: container.quarantine) == [])
        let engine = try container.engine()
        #expect(try engine.read("item", nil).value == prose(50_000))
        #expect(try engine.items().map(\.key) == ["item"])
        let file = try #require(try engine.open("Doc.txt").value)
        #expect(!file.isFirstOpen)
        #expect(try Data(contentsOf: file.url) == prose(50_000, seed: 2))
        try engine.close()
    }

    @Test func whatCannotBeReadIsNotSetAside() throws {
        let engine = try container.engine(fileSystem: device.fileSystem(below: container.root))
        _ = try engine.items()
        device.isLocked.store(true, ordering: .relaxed)
        expectLocked { () throws(CacheError) in try engine.read("item", nil) }
        expectLocked { () throws(CacheError) in try engine.open("item") }
        let report = try engine.verified(isRepairing: true)
        #expect(report.unreadable == 2 && report.quarantined == 0)
        device.isLocked.store(false, ordering: .relaxed)
        #expect(try engine.read("item", nil).value == prose(50_000))
        try engine.close()
        try expectNothingLost()
    }

    /// As in a background launch after the system has purged the catalog alone.
    @Test func aCatalogIsNotFilledFromItemsThatCannotBeRead() throws {
        try container.catalog.remove()
        let engine = try container.engine(fileSystem: device.fileSystem(below: container.root))
        device.isLocked.store(true, ordering: .relaxed)
        expectLocked { () throws(CacheError) in try engine.items() }
        let report = try engine.repair(isDryRun: false)
        #expect(!report.steps.contains { $0.action == .itemQuarantined || $0.action == .purgedItemRemoved })
        #expect(report.failures.contains { if case .locked = $0.error { true } else { false } })
        device.isLocked.store(false, ordering: .relaxed)
        #expect(try engine.items().map(\.key) == ["item"])
        try engine.close()
        try expectNothingLost()
    }

    @Test func aCatalogThatCannotBeReadIsNotBuiltAnew() throws {
        let inode = try container.catalog.inode
        let engine = try container.engine()
        try SQLiteFaults.failing(.open, of: container.catalog, errno: Errno.ofLockedDevice.rawValue) {
            expectLocked { () throws(CacheError) in try engine.items() }
        }
        #expect(try engine.items().map(\.key) == ["item"])
        #expect(try container.catalog.inode == inode)
        try engine.close()
        try expectNothingLost()
    }

    @Test func aLedgerThatCannotBeReadIsReportedAsLocked() throws {
        let engine = try container.engine()
        let ledger = container.record
        try SQLiteFaults.failing(.open, of: ledger, errno: Errno.ofLockedDevice.rawValue) {
            expectLocked { () throws(CacheError) in try engine.open("item") }
        }
        try engine.close()
        try expectNothingLost()
    }

    // MARK: Protection

    private func identity(_ path: String) throws -> FileAttributes.Identity {
        try #require(try container.root.appending(path: path).attributes).identity
    }

    @Test func theFoldersHaveTheProtectionThatIsConfigured() throws {
        let device = AppleVolume(protection: .complete)
        let engine = try container.engine(fileSystem: InterceptingFileSystem(of: device))
        let group = container.item("item").deletingLastPathComponent().lastPathComponent
        let folders = [
            "Library/Caches/PrefetchCache", "Library/Caches/PrefetchCache/items/\(group)",
            "Library/Caches/PrefetchCache/incoming", "Library/Application Support/PrefetchCache/staging",
        ]
        func expect(_ protection: FileProtection) throws {
            for folder in folders {
                #expect(device.protection(of: try identity(folder)) == protection, "\(folder)")
            }
        }
        try expect(.completeUntilFirstUserAuthentication)
        _ = try engine.configure { $0.fileProtection = .completeUnlessOpen }
        try expect(.completeUnlessOpen)
        #expect(device.protection(of: try identity("Documents/Doc.txt")) == .complete, "it is the user's")
        // Everything is purged, and has to be created again.
        try container.caches.remove()
        #expect(try engine.read("item", nil).value == nil)
        #expect(device.protection(of: try identity(folders[0])) == .completeUnlessOpen)
        try engine.close()
        let next = try container.engine(fileSystem: InterceptingFileSystem(of: device))
        #expect(try next.configuration.current().fileProtection == .completeUnlessOpen)
        try next.close()
    }

    @Test func anUnknownProtectionIsRefused() throws {
        let file = container.support.appending(path: CacheLayout.configuration.string)
        try Data(#"{"fileProtection": "total"}"#.utf8).write(to: file)
        let error = #expect(throws: CacheError.self) { try container.engine() }
        #expect(error?.description.contains("completeUnlessOpen") == true)
    }
}

extension Errno {
    /// What opening a file fails with while the device is locked.
    static var ofLockedDevice: Errno {
        #if canImport(Darwin)
            .notPermitted
        #else
            Errno(rawValue: ENOKEY)
        #endif
    }
}
