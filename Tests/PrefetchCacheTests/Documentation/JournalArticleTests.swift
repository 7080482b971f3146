import FileSystemTestSupport
import Foundation
import PrefetchFileSystem
import SystemPackage
import Testing

@testable import PrefetchCaching

/// What the article on the file format says of journals, held against one that is written here.
@Suite struct JournalArticleTests {
    private static let metadata = ItemMetadata(key: "k", destination: .documents("n"))
    private let article: Article
    private let image: [UInt8]
    private let chunk = Chunk(storedBytes: 77, checksum: 0x1122_3344_5566_7788)

    init() throws {
        article = try Article("FileFormat")
        let folder = try TemporaryContainer()
        let live = LiveFileSystem()
        let path = FilePath(folder.root.appending(path: "journal").path)
        let file = try live.open(path, in: .workingDirectory, .createNew(.ownerReadWrite))
        defer { live.close(file) }
        var journal = PartialJournal(
            metadata: Self.metadata, encoding: .lz4, expectedLength: 1 << 40, generation: 0x0102_0304_0506)
        try journal.begin(file, in: live, writer: 0xABCD, keptAt: 1234)
        try journal.append([chunk], to: file, in: live)
        image = [UInt8](try Data(contentsOf: URL(filePath: path.string)))
    }

    @Test func theFieldsAndTheRecordsAreAtTheOffsetsOfTheTables() throws {
        let description = image.count - 56 - 24
        try expect(
            image, table: 0,
            [
                "journal magic": UInt64.littleEndian(Array("PfCacheP".utf8)), "writer": 0xABCD,
                "kept at": 1234, "version": 1, "reserved": 0, "description length": UInt64(description),
                "generation": 0x0102_0304_0506, "expected length": 1 << 40,
                "journal checksum": checksum(Array(image[24..<48])),
            ])
        let record = Array(image.suffix(24))
        let generation: [UInt8] = [6, 5, 4, 3, 2, 1, 0, 0]
        try expect(
            record, table: 1,
            [
                "index": 0, "chunk stored length": 77, "chunk checksum": chunk.checksum,
                "record checksum": checksum(generation + record.prefix(16)),
            ])
    }

    @Test func theDescriptionIsAnItemOfNoContent() throws {
        let written = try DescribedItem(content: [], encoding: .lz4, metadata: Self.metadata).image
        #expect(Array(image[56..<image.count - 24]) == written)
    }

    private func checksum(_ bytes: [UInt8]) -> UInt64 { bytes.withUnsafeBytes { Checksum.of($0) } }

    private func expect(_ bytes: [UInt8], table: Int, _ expected: [String: UInt64]) throws {
        let rows = try article.rows(
            under: "Offset", in: "What is kept of an item that was broken off", table: table)
        #expect(Set(rows.map { $0[2] }) == Set(expected.keys))
        for row in rows {
            let offset = try #require(Int(row[0]))
            #expect(
                try bytes.integer(at: offset, width: DescribedItem.width(of: row[1])) == expected[row[2]],
                "\(row)")
        }
    }
}
