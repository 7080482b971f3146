import FileSystemTestSupport
import Foundation
import PrefetchFileSystem
import SystemPackage
import Testing

@testable import PrefetchCaching

/// Files that were there with the same content before an item was opened: their user's, whatever the item asks for.
@Suite struct AdoptionTests {
    private let container = TemporaryContainer.make()
    private static let content = prose(9000, seed: 3)

    @discardableResult
    private func open(
        _ key: ItemKey, as name: FileName, _ backup: BackupPolicy, _ engine: Engine,
        encoding: EncodingChoice = .automatic
    ) throws -> URL {
        let metadata = ItemMetadata(key: key, destination: .documents(name, backup: backup))
        try engine.store(Self.content, as: metadata, encoding: encoding)
        return try #require(try engine.open(key).value).url
    }

    private func purge(_ engine: Engine) throws -> PurgeReport {
        try engine.purgeExcluded(unusedSince: .max, isDryRun: false)
    }

    @Test(arguments: [ItemEncoding.lz4, .identity])
    func aFileOfTheUsersIsNeitherPurgedNorMarked(encoding: ItemEncoding) throws {
        try container.document("film.txt").place(Self.content)
        let engine = try container.engine()
        let file = try open("k", as: "film.txt", .exclude, engine, encoding: .forced(encoding))
        #expect(file.path == container.document("film.txt").path)
        let repair = try engine.repair(isDryRun: false)
        #expect(!repair.steps.contains { $0.action == .markRestored && $0.key != nil })
        #expect(try file.backupPolicy == .include)
        let report = try purge(engine)
        #expect(report.purged.isEmpty && report.changed.map(\.key) == ["k"])
        #expect(try Data(contentsOf: file) == Self.content)
    }

    /// The user deletes the file and puts a copy of their own in its place.
    @Test func aCopyOfTheUsersInPlaceOfOurFileIsNeitherPurgedNorMarked() throws {
        let engine = try container.engine()
        let file = try open("k", as: "film.txt", .exclude, engine)
        try Self.content.write(to: container.document("copy"))
        _ = try file.remove()
        try container.document("copy").move(to: file)
        let repair = try engine.repair(isDryRun: false)
        #expect(!repair.steps.contains { $0.action == .markRestored && $0.key != nil })
        #expect(try purge(engine).purged.isEmpty)
        #expect(try Data(contentsOf: file) == Self.content)
    }

    @Test func ourFileIsPurgedAndItsMarkRenewed() throws {
        let engine = try container.engine()
        let file = try open("k", as: "film.txt", .exclude, engine)
        try file.set(.include)
        let repair = try engine.repair(isDryRun: false)
        #expect(repair.steps.contains { $0.action == .markRestored && $0.key == "k" })
        #expect(try file.backupPolicy == .exclude)
        #expect(try purge(engine).purged.map(\.key) == ["k"])
        #expect(!file.exists)
    }

    /// A process died between the adoption and the commit.
    @Test func anAdoptionThatRecoveryCompletesIsOne() throws {
        try container.document("film.txt").place(Self.content)
        let fileSystem = InterceptingFileSystem()
        let dying = try container.engine(fileSystem: fileSystem)
        fileSystem.die(before: { $0.kind == .unlink && $0.name.contains("-") })
        #expect(throws: (any Error).self) { try open("k", as: "film.txt", .exclude, dying) }
        let engine = try container.engine()
        let file = try #require(try engine.open("k").value).url
        #expect(file.path == container.document("film.txt").path)
        _ = try engine.repair(isDryRun: false)
        #expect(try file.backupPolicy == .include)
        #expect(try purge(engine).purged.isEmpty)
        #expect(try Data(contentsOf: file) == Self.content)
    }

    @Test(arguments: [[BackupPolicy.exclude, .include], [.include, .exclude]])
    func aFileOfOursThatIsWantedInBackupsIsThere(policies: [BackupPolicy]) throws {
        let engine = try container.engine()
        var files: [URL] = []
        for policy in policies {
            files.append(try open(ItemKey("\(policy)"), as: "film.txt", policy, engine))
            #expect(try files[0].backupPolicy == (files.count == 1 ? policies[0] : .include))
        }
        #expect(files[0].path == files[1].path)
        _ = try engine.repair(isDryRun: false)
        #expect(try files[0].backupPolicy == .include)
        #expect(try purge(engine).purged.isEmpty)
        #expect(try Data(contentsOf: files[0]) == Self.content)
    }

    @Test func aMarkOfTheUsersStays() throws {
        try container.document("film.txt").place(Self.content)
        try container.document("film.txt").set(.exclude)
        let engine = try container.engine()
        let file = try open("out", as: "film.txt", .exclude, engine)
        try open("in", as: "film.txt", .include, engine)
        #expect(try file.backupPolicy == .exclude)
    }

    /// Names that a volume takes for one, and that are different strings.
    @Test func aFileThatAnotherKeyWasHandedInOtherLettersIsNotPurged() throws {
        let world = SimulatedWorld()
        var naming = SimulatedNaming()
        naming.isFolding = true
        world.fileSystem.setNaming(naming)
        var (one, other) = (
            SimulatedItem("one", .lz4, backup: .exclude), SimulatedItem("other", .lz4, backup: .exclude)
        )
        one.metadata.destination = .documents("Film.txt", backup: .exclude)
        other.metadata.destination = .documents("film.TXT", backup: .exclude)
        let engine = try world.engine()
        for item in [one, other] {
            try world.cache(item)
            _ = try world.open(item.key, engine)
        }
        let folder = SimulatedWorld.areas.documents.appending(SimulatedWorld.excludedFolder.string)
        let file = folder.appending("Film.txt")
        #expect(world.fileSystem.disk.names(in: folder) == ["CACHEDIR.TAG", "Film.txt"])
        let report = try engine.purgeExcluded(unusedSince: .max, isDryRun: false)
        #expect(report.purged.isEmpty && report.shared.map(\.key) == ["one"])
        #expect(world.fileSystem.disk.content(of: file) == one.content)
    }
}
