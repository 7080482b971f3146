import FileSystemTestSupport
import Foundation
import PrefetchFileSystem
import SystemPackage
import Testing

@testable import PrefetchCaching

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// A folder of the cache that others own or may write to is refused by its name, and left as it is.
@Suite struct RootTests {
    private let container = TemporaryContainer.make()

    enum Root: CaseIterable {
        case caches, support

        func url(in container: TemporaryContainer) -> URL {
            switch self {
            case .caches: container.caches
            case .support: container.support
            }
        }
    }

    private func expectRefused(_ root: Root, _ container: TemporaryContainer) throws {
        let path = FilePath(root.url(in: container).path)
        let before = try FileManager.default.attributesOfItem(atPath: path.string) as NSDictionary
        #expect(throws: CacheError.notOurs(path)) { _ = try container.engine() }
        let after = try FileManager.default.attributesOfItem(atPath: path.string) as NSDictionary
        var record = AttackRecord("attackers.roots", of: "roots that others own or may write to", cases: 1)
        record.note(\.foreignTouched, if: after != before)
        #expect(record.isHarmless)
        record.report()
    }

    @Test(arguments: Root.allCases, [0o777, 0o770, 0o702, 0o1777] as [mode_t])
    func whereOthersMayWriteNothingIsStored(root: Root, mode: mode_t) throws {
        try container.engine().close()
        try #require(chmod(root.url(in: container).path, mode) == 0)
        try expectRefused(root, container)
        try #require(chmod(root.url(in: container).path, 0o700) == 0)
        try container.engine().close()
    }

    @Test(
        .enabled(if: LiveFileSystem().userID == 0, "Giving a folder away needs root."),
        arguments: Root.allCases)
    func somebodyElsesFolderIsNotUsed(root: Root) throws {
        try container.engine().close()
        try #require(chown(root.url(in: container).path, 65_534, 65_534) == 0)
        try expectRefused(root, container)
    }

    /// Documents may be on a volume that others write to.
    @Test(.enabled(if: MountedFolder.isPossible, "Mounting a volume needs root."))
    func somebodyElsesStagingIsNotUsed() throws {
        let engine = try container.engine()
        let folder = container.document("Volume")
        let volume = try MountedFolder(.tmpfs, at: folder)
        try withExtendedLifetime(volume) {
            try engine.store(prose(5000), "key", in: "Volume")
            let staging = folder.appending(path: CacheLayout.foreignStaging.string)
            try FileManager.default.createDirectory(at: staging, withIntermediateDirectories: false)
            for (owner, mode) in [(65_534, 0o700), (0, 0o770), (0, 0o707)] as [(uid_t, mode_t)] {
                try #require(chown(staging.path, owner, 0) == 0 && chmod(staging.path, mode) == 0)
                expectDestinationError(.notPermitted) { try engine.open("key") }
                #expect(try container.files(below: folder).isEmpty)
            }
            try #require(chown(staging.path, 0, 0) == 0 && chmod(staging.path, 0o700) == 0)
            #expect(try engine.open("key").value?.isFirstOpen == true)
        }
    }

    @Test func whatTheCacheMakesIsForItsUserAlone() throws {
        let engine = try container.engine()
        try engine.store(prose(5000), "kept")
        try engine.store(prose(5000), "opened", to: .applicationSupport)
        _ = try engine.open("opened")
        try engine.flush()
        for root in Root.allCases.map({ $0.url(in: container) }) {
            for name in try FileManager.default.subpathsOfDirectory(atPath: root.path) + [""] {
                let path = FilePath(root.path).pushing(FilePath(name))
                let attributes = try #require(
                    try LiveFileSystem().attributes(of: path, in: .workingDirectory))
                // SQLite makes its files as the process's mask says; nobody else gets to them.
                guard !name.contains("sqlite") else { continue }
                #expect(
                    attributes.permissions.isDisjoint(with: [.groupReadWriteExecute, .otherReadWriteExecute]),
                    "\(name)")
            }
        }
    }
}
