import FileSystemTestSupport
import Foundation
import PrefetchFileSystem
import SystemPackage
import Testing

@testable import PrefetchCaching

/// What the ledger remembers of a file when its item is gone: where it came from, and who wanted it.
@Suite struct ProvenanceTests {
    private let container = TemporaryContainer.make()

    private static let metadata = ItemMetadata(
        key: "film", source: "feed", destination: .documents("Film.mp4", backup: .exclude),
        validator: Validator(entityTag: "\"1\"", lastModified: "Thu, 01 Jan 1970 00:00:00 GMT"),
        priority: 0.5, attributes: [0, 1, 2], url: URL(string: "https://media.example.org/film.mp4?quality=1")
    )

    private func promotedFile(_ engine: Engine, _ key: ItemKey = "film") throws -> PromotedFile {
        try #require(try engine.promotedFiles().first { $0.key == key })
    }

    private func expectProvenance(
        _ file: PromotedFile, _ intent: Intent = .opportunistic,
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        let provenance = file.provenance
        #expect(provenance?.source == "feed", sourceLocation: sourceLocation)
        #expect(provenance?.intent == intent, sourceLocation: sourceLocation)
        #expect(provenance?.validator == Self.metadata.validator, sourceLocation: sourceLocation)
        #expect(provenance?.url == Self.metadata.url, sourceLocation: sourceLocation)
        #expect(provenance?.attributes == [0, 1, 2], sourceLocation: sourceLocation)
        #expect(provenance.map { $0.storedAt <= file.openedAt } == true, sourceLocation: sourceLocation)
        #expect((provenance?.storedAt ?? 0) > 1_700_000_000_000, sourceLocation: sourceLocation)
    }

    @Test(arguments: [ItemEncoding.lz4, .identity])
    func anOpenedFileKeepsWhereItCameFrom(encoding: ItemEncoding) throws {
        let engine = try container.engine()
        try engine.store(prose(9000), as: Self.metadata, encoding: .forced(encoding))
        let opened = try #require(try engine.open("film").value)
        expectProvenance(opened)
        #expect(opened.isAdopted == false)
        // As another process and the inventory read it.
        expectProvenance(try promotedFile(container.engine()))
        let support = Directory(
            try LiveFileSystem().open(
                try container.areas().applicationSupport, in: .workingDirectory, .directory),
            of: LiveFileSystem())
        let snapshot = try LedgerSnapshot(in: support, at: try container.areas().applicationSupport)
        #expect(snapshot?.entries.first?.provenance == opened.provenance)
    }

    @Test func aDeliveredFileKeepsWhereItCameFrom() throws {
        var metadata = Self.metadata
        metadata.intent = .userRequested
        let engine = try container.engine()
        try engine.store(prose(9000), as: metadata)
        expectProvenance(try promotedFile(engine), .userRequested)
    }

    @Test func anAdoptedFileSaysSo() throws {
        try container.document("Film.mp4").place(prose(9000))
        let engine = try container.engine()
        try engine.store(prose(9000), as: Self.metadata)
        let opened = try #require(try engine.open("film").value)
        #expect(opened.isAdopted == true)
        expectProvenance(opened)
        // Its loss would be the user's.
        try opened.url.remove()
        #expect(try !promotedFile(engine).isLost)
    }

    @Test func onlyAMissingExcludedFileIsLost() throws {
        let engine = try container.engine()
        try engine.store(prose(9000), as: Self.metadata)
        try engine.store(prose(5000), "included")
        let files = [try engine.open("film").value, try engine.open("included").value]
        #expect(try engine.promotedFiles().allSatisfy { !$0.isLost })
        for file in files.compactMap(\.self) { try file.url.remove() }
        #expect(try engine.promotedFiles().filter(\.isLost).map(\.key) == ["film"])
    }

    /// It could not be completed, and goes back to the cache as what it was.
    @Test func anItemThatReturnsToTheCacheKeepsWhereItCameFrom() throws {
        let fileSystem = InterceptingFileSystem()
        let engine = try container.engine(fileSystem: fileSystem)
        try engine.store(prose(9000), as: Self.metadata, encoding: .forced(.identity))
        fileSystem.fail(.invalidArgument, where: RefusedNameTests.isPublishing)
        #expect(throws: CacheError.self) { try engine.open("film") }
        #expect(try engine.ledger.entry(for: "film")?.state == .intent)
        #expect(try engine.forget("film"))
        let metadata = try #require(try engine.description(of: "film")?.metadata)
        #expect(metadata.source == "feed")
        #expect(metadata.validator == Self.metadata.validator)
        #expect(metadata.url == Self.metadata.url)
        #expect(metadata.attributes == [0, 1, 2])
    }

    /// The ledger may come from a backup of anything.
    @Test(arguments: [
        "intent = 7", "storedAt = 'yesterday'", "url = x'ff'", "attributes = 'text'", "source = x'00ff'",
    ])
    func aRowThatNobodyWroteHarmsNoFile(change: String) throws {
        do {
            let engine = try container.engine()
            try engine.store(prose(9000), as: Self.metadata)
            _ = try engine.open("film")
        }
        try container.record.execute(sql: "UPDATE promotion SET \(change)")
        _ = try container.engine().promotedFiles()
        #expect(try Data(contentsOf: container.document("Film.mp4")) == prose(9000))
    }
}
