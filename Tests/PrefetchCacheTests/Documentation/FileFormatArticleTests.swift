import FileSystemTestSupport
import Foundation
import PrefetchFileSystem
import SystemPackage
import Testing

@testable import PrefetchCaching

/// The article on the file format, held against items that are written here.
@Suite struct FileFormatArticleTests {
    private let article: Article
    private let lz4: DescribedItem
    private let identity: DescribedItem

    init() throws {
        article = try Article("FileFormat")
        lz4 = try DescribedItem(content: [UInt8](prose(1_100_000)), encoding: .lz4)
        identity = try DescribedItem(content: [UInt8](noise(1_100_000)), encoding: .identity)
    }

    @Test func theTrailerHasItsFieldsAtTheOffsetsOfTheTable() throws {
        for item in [lz4, identity] { try expect(item.trailer, in: "Trailer", item.trailerFields) }
    }

    @Test func theHeadHasItsFieldsAtTheOffsetsOfTheTable() throws {
        for item in [lz4, identity] { try expect(item.footer, in: "Head", item.headFields) }
    }

    @Test func aFrameHasItsFieldsAtTheOffsetsOfTheTable() throws {
        try expect(lz4.image, in: "An LZ4 chunk", lz4.frameFields)
    }

    @Test func theFieldsHaveTheTagsOfTheTable() throws {
        let rows = try article.rows(under: "Tag", in: "Fields")
        let large = try DescribedItem(
            content: [UInt8](noise((4 << 20) + 1)), encoding: .identity, boot: 0x0123_4567_89AB_CDEF)
        for item in [lz4, identity, large] {
            let fields = try item.fields(described: article.rows(under: "Offset", in: "Fields"))
            let written = rows.filter { row in
                !row[1].hasPrefix("no destination") && !row[1].hasPrefix("files of a bundle")
                    && (item.summary.boot != nil || !row[1].hasPrefix("boot"))
            }
            #expect(fields.map(\.tag) == written.map { UInt64($0[0]) })
            for (field, row) in zip(fields, written) {
                let name = row[1].prefix { $0 != "," && $0 != "(" && $0 != ":" }
                #expect(field.value == item.values[String(name)], "\(row)")
            }
        }
    }

    @Test func theFilesOfABundleHaveTheirEntriesAtTheOffsetsOfTheTable() throws {
        let rows = try article.rows(under: "Offset", in: "Fields", table: 2)
        #expect(rows.map { $0[0] + $0[1] + $0[2] } == ["0i64file length", "8u16path length"])
        let bytes = [BundlePart("a/b", contentBytes: 0x1234)].encoded()
        #expect(bytes == [0x34, 0x12, 0, 0, 0, 0, 0, 0, 3, 0] + Array("a/b".utf8))
        let tag = try article.rows(under: "Tag", in: "Fields").first { $0[1] == "files of a bundle" }
        let bundle = try DescribedItem(
            content: [7], encoding: .identity,
            metadata: ItemMetadata(
                key: "k", destination: .documents("n"), parts: [BundlePart("a", contentBytes: 1)]))
        let fields = try bundle.fields(described: article.rows(under: "Offset", in: "Fields"))
        let written = try #require(fields.first { "\($0.tag)" == tag?[0] })
        #expect(written.value == [1, 0, 0, 0, 0, 0, 0, 0, 1, 0, UInt8(ascii: "a")])
    }

    @Test func theChunkTableHasItsEntriesAtTheOffsetsOfTheTable() throws {
        for item in [lz4, identity] {
            let table = try #require(item.values["chunk table"])
            #expect(table.count == 24)
            try expect(table, in: "Fields", table: 1, item.chunkFields(0))
            try expect(Array(table.dropFirst(12)), in: "Fields", table: 1, item.chunkFields(1))
        }
    }

    @Test func theBoundsAreThoseOfTheCode() throws {
        let bounds = [
            "`ItemLimits.chunkBytes`": Int64(ItemLimits.chunkBytes),
            "`ItemLimits.footerBytes`": Int64(ItemLimits.footerBytes),
            "`ItemLimits.contentBytes`": ItemLimits.contentBytes,
            "`ItemLimits.sourceBytes`": Int64(ItemLimits.sourceBytes),
            "`ItemLimits.validatorBytes`": Int64(ItemLimits.validatorBytes),
            "`ItemLimits.urlBytes`": Int64(ItemLimits.urlBytes),
            "`ItemLimits.attributesBytes`": Int64(ItemLimits.attributesBytes),
            "`ItemLimits.partsBytes`": Int64(ItemLimits.partsBytes),
            "`ItemKey.maximumBytes`": Int64(ItemKey.maximumBytes),
            "`FileName.maximumBytes`": Int64(FileName.maximumBytes),
            "`FolderPath.maximumBytes`": Int64(FolderPath.maximumBytes),
        ]
        let rows = try article.rows(under: "Bound")
        #expect(Set(rows.map { $0[0] }) == Set(bounds.keys))
        for row in rows { #expect(Int64(row[1]) == bounds[row[0]], "\(row)") }
    }

    @Test func anEmptyContentHasTheChecksumThatIsStated() throws {
        let empty = try DescribedItem(content: [], encoding: .identity)
        let stated = try #require(article.text.firstMatch(of: /`0x(2D[0-9A-F]{14})`/)).1
        #expect(empty.summary.contentChecksum == UInt64(stated, radix: 16))
    }

    @Test func theExampleIsWhatIsWritten() throws {
        let written = try DescribedItem(
            content: Array("abc".utf8), encoding: .identity,
            metadata: ItemMetadata(key: "k", destination: .documents("n", backup: .include)))
        #expect(article.dump == written.image)
    }

    /// Compares all rows of a table with what lies at their offsets.
    private func expect(
        _ bytes: [UInt8], in section: String, table: Int = 0, _ expected: [String: UInt64]
    ) throws {
        let rows = try article.rows(under: "Offset", in: section, table: table)
        #expect(Set(rows.map { $0[2] }) == Set(expected.keys))
        for row in rows {
            let offset = try #require(Int(row[0]))
            let value = try bytes.integer(at: offset, width: DescribedItem.width(of: row[1]))
            #expect(value == expected[row[2]], "\(row)")
        }
    }
}
