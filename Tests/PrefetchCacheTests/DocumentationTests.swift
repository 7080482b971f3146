import FileSystem
import FileSystemTestSupport
import Foundation
import SystemPackage
import Testing

@testable import PrefetchCache

/// The articles of the documentation, held against the code.
@Suite struct DocumentationTests {
    @Test func everyArticleIsLinkedFromTheLandingPage() throws {
        let landing = try Article("PrefetchCache")
        let names = try Article.names()
        #expect(names.count > 1)
        for name in names where name != "PrefetchCache" {
            #expect(landing.text.contains("- <doc:\(name)>"), "\(name)")
        }
    }

    @Test func everyLinkedArticleExists() throws {
        let names = Set(try Article.names())
        for name in names {
            for match in try Article(name).text.matches(of: /doc:(\w+)/) {
                #expect(names.contains(String(match.1)), "\(match.0) in \(name)")
            }
        }
    }

    @Test func theTableOfAreasIsThatOfTheirPromises() throws {
        #expect(try Article("StorageAreas").text.contains("\n\n\(AreaPromise.markdownTable())\n"))
    }

    @Test func everyTestThatIsNamedExists() throws {
        let sources = try testSources()
        let named = try Article("Contracts").text.matches(of: /`(\w+Tests)\.(\w+)`/)
        #expect(named.count > 40)
        for test in named {
            let isThere = sources.contains { source in
                source.contains("struct \(test.1) ") && source.contains("func \(test.2)(")
            }
            #expect(isThere, "\(test.0)")
        }
    }

    @Test func theExamplesOfChargedLengthsAreRight() throws {
        let rows = try Article("Capacity").rows(under: "Stored length")
        #expect(rows.count > 5)
        for row in rows {
            let charge = ChargedLength(blockSize: try #require(Int64(row[1])))
            #expect(charge(storedLength: try #require(Int64(row[0]))) == Int64(row[2]), "\(row)")
        }
    }

    @Test func theExamplesOfTheCapacityModelAreRight() throws {
        let rows = try Article("Capacity").rows(under: "Total")
        #expect(rows.count > 5)
        let model = CapacityModel()
        for row in rows {
            let state = VolumeState(total: try gigabytes(row[0]), available: try gigabytes(row[1]))
            let capacity = model.capacity(of: state)
            let amounts = [capacity.low, capacity.reserve, capacity.share, capacity.budget]
            #expect(
                try amounts.map(roundedGigabytes) == row[2...5].map { $0.replacing(" GB", with: "") },
                "\(row)")
            #expect(model.pressure(of: state, after: .normal).rawValue == row[6], "\(row)")
        }
    }

    @Test func everyReasonOfARefusalIsListed() throws {
        let reasons = try Article("Capacity").rows(under: "Reason").map { $0[0] }
        let refusals: [Refusal] = [
            .disabled, .pressure(.low), .largerThanLargestItem(needed: 1, largest: 0),
            .overBudget(needed: 1, budget: 0), .lowPriority(0), .alreadyPromoted,
        ]
        #expect(reasons == refusals.map { "`\($0.reason)`" })
    }

    private func gigabytes(_ text: String) throws -> Int64 {
        let number = try #require(Double(text.replacing(" GB", with: "")))
        return Int64((number * 1e9).rounded())
    }

    private func roundedGigabytes(_ bytes: Int64) throws -> String {
        (Double(bytes) / 1e9).formatted(
            .number.precision(.fractionLength(2)).grouping(.never).locale(Locale(identifier: "en_US_POSIX")))
    }

    /// All suites of the package, a file each.
    private func testSources() throws -> [String] {
        let folder = Article.package.appending(path: "Tests").path
        return try FileManager.default.subpathsOfDirectory(atPath: folder)
            .filter { $0.hasSuffix("Tests.swift") }
            .map { try String(contentsOfFile: "\(folder)/\($0)", encoding: .utf8) }
    }
}

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
        for item in [lz4, identity] {
            let fields = try item.fields(described: article.rows(under: "Offset", in: "Fields"))
            #expect(fields.map(\.tag) == rows.map { UInt64($0[0]) })
            for (field, row) in zip(fields, rows) {
                let name = row[1].prefix { $0 != "," && $0 != "(" }
                #expect(field.value == item.values[String(name)], "\(row)")
            }
        }
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
            "`ItemLimits.chunkLength`": Int64(ItemLimits.chunkLength),
            "`ItemLimits.footerLength`": Int64(ItemLimits.footerLength),
            "`ItemLimits.contentLength`": ItemLimits.contentLength,
            "`ItemLimits.sourceLength`": Int64(ItemLimits.sourceLength),
            "`ItemLimits.validatorLength`": Int64(ItemLimits.validatorLength),
            "`ItemLimits.attributesLength`": Int64(ItemLimits.attributesLength),
            "`ItemKey.maximumLength`": Int64(ItemKey.maximumLength),
            "`FileName.maximumLength`": Int64(FileName.maximumLength),
            "`FolderPath.maximumLength`": Int64(FolderPath.maximumLength),
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
            metadata: ItemMetadata(key: "k", destination: .documents("n")))
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

/// What the article on the file format says of journals, held against one that is written here.
@Suite struct JournalArticleTests {
    private static let metadata = ItemMetadata(key: "k", destination: .documents("n"))
    private let article: Article
    private let image: [UInt8]
    private let chunk = Chunk(storedLength: 77, checksum: 0x1122_3344_5566_7788)

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

/// One article of the documentation catalogue.
private struct Article {
    /// Where the package is. Links on the way to this file do not count.
    static let package = URL(filePath: #filePath).resolvingSymlinksInPath()
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    private static let folder = package.appending(path: "Sources/PrefetchCache/PrefetchCache.docc")

    let text: String

    init(_ name: String) throws {
        text = try String(contentsOf: Self.folder.appending(path: "\(name).md"), encoding: .utf8)
    }

    static func names() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder.path)
            .filter { $0.hasSuffix(".md") }
            .map { String($0.dropLast(".md".count)) }
    }

    /// The rows of a table whose first column has the given title.
    ///
    /// - Parameters:
    ///   - section: The heading that the table lies under; `nil` for any.
    ///   - table: Which of several such tables, counted from 0.
    func rows(under title: String, in section: String? = nil, table: Int = 0) throws -> [[String]] {
        var lines = text.split(separator: "\n", omittingEmptySubsequences: false)[...]
        if let section {
            lines = lines.drop { $0 != "## \(section)" && $0 != "### \(section)" }.dropFirst()
            lines = lines.prefix { !$0.hasPrefix("#") }
        }
        for _ in 0...table { lines = lines.drop { !$0.hasPrefix("| \(title) |") }.dropFirst() }
        let rows = lines.prefix { $0.hasPrefix("|") }.dropFirst().map { line in
            line.dropFirst().dropLast().split(separator: "|").map {
                $0.trimmingCharacters(in: .whitespaces)
            }
        }
        try #require(!rows.isEmpty, "no table '\(title)'")
        return rows
    }

    /// The bytes of the dump in the article, as `xxd` prints them.
    var dump: [UInt8] {
        text.split(separator: "\n")
            .compactMap { $0.wholeMatch(of: /[0-9a-f]{8}: ((?:[0-9a-f]{4} |[0-9a-f]{2} )+) .*/)?.1 }
            .flatMap { $0.filter { $0 != " " } }
            .reduce(into: (bytes: [UInt8](), high: UInt8?.none)) { result, digit in
                let nibble = UInt8(digit.hexDigitValue ?? 0)
                if let high = result.high {
                    result.bytes.append(high << 4 | nibble)
                    result.high = nil
                } else {
                    result.high = nibble
                }
            }.bytes
    }
}

/// An item that was written to a file, and what the article says of its bytes.
private struct DescribedItem {
    private static let full = ItemMetadata(
        key: "feed/épisode 42", source: "feeds.example.org", intent: .userRequested,
        destination: .applicationSupport("Épisode 42.mp3", in: "Podcasts/Été", backup: .exclude),
        validator: Validator(entityTag: "W/\"5f3e\"", lastModified: "Tue, 15 Nov 1994 12:45:26 GMT"),
        priority: 0.625, storedAt: 1_700_000_000_123, expiresAt: 1_800_000_000_456,
        attributes: [0, 1, 2, 0xFF])

    let metadata: ItemMetadata
    let content: [UInt8]
    let image: [UInt8]
    /// What a reader makes of the file.
    let summary: ItemFooter

    init(content: [UInt8], encoding: ItemEncoding, metadata: ItemMetadata = full) throws {
        let folder = try TemporaryContainer()
        let live = LiveFileSystem()
        let codecs = CodecPool(parallelism: 1)
        let path = FilePath(folder.root.appending(path: "item").path)
        let file = try live.open(path, in: .workingDirectory, .createNew(.ownerReadWrite))
        defer { live.close(file) }
        let writer = try ItemWriter(
            file, of: live, codecs: codecs, metadata: metadata, encoding: .forced(encoding))
        _ = try content.withBytes { bytes throws(ItemFormatError) in try writer.finish(appending: bytes) }
        self.content = content
        self.metadata = metadata
        image = [UInt8](try Data(contentsOf: URL(filePath: path.string)))
        summary = try ItemReader(file, of: live, codecs: codecs).footer
    }

    private var chunks: [[UInt8]] {
        stride(from: 0, to: content.count, by: 1 << 20).map {
            Array(content[$0..<min($0 + 1 << 20, content.count)])
        }
    }

    private var checksums: [UInt64] { chunks.map { $0.withUnsafeBytes { Checksum.of($0) } } }

    private var storedLengths: [Int] { summary.chunks.map { Int($0.storedLength) } }

    var footer: [UInt8] { Array(image.dropFirst(storedLengths.reduce(0, +))) }

    var trailer: [UInt8] { Array(image.suffix(32)) }

    var trailerFields: [String: UInt64] {
        [
            "stored length": UInt64(image.count), "footer length": UInt64(footer.count), "version": 1,
            "reserved": 0,
            "footer checksum": Array(footer.dropLast(16)).withUnsafeBytes { Checksum.of($0) },
            "trailer magic": UInt64.littleEndian(Array("PfCacheI".utf8)),
        ]
    }

    var headFields: [String: UInt64] {
        let listed = checksums.flatMap(\.littleEndianBytes)
        return [
            "footer magic": 0x184D_2A5C, "frame length": UInt64(footer.count - 8),
            "encoding": summary.encoding == .lz4 ? 1 : 2, "intent": 2, "area": 2, "backup": 2,
            "priority": UInt64(metadata.priority.bitPattern), "content length": UInt64(content.count),
            "content checksum": listed.withUnsafeBytes { Checksum.of($0) },
            "stored at": UInt64(metadata.storedAt), "expires at": UInt64(metadata.expiresAt ?? .max),
            "chunk length": 1 << 20, "chunk count": 2,
        ]
    }

    /// Of the first chunk, whose block is the rest of the frame but the last eight bytes.
    var frameFields: [String: UInt64] {
        [
            "frame magic": 0x184D_2204, "flags": 0x6C, "block size": 0x60, "content size": 1 << 20,
            // Of just this header; the LZ4 command compares it, too.
            "header checksum": 0x31, "block length": UInt64(storedLengths[0] - 27),
        ]
    }

    func chunkFields(_ index: Int) -> [String: UInt64] {
        ["chunk stored length": UInt64(storedLengths[index]), "chunk checksum": checksums[index]]
    }

    /// The values of all fields by their names in the article.
    var values: [String: [UInt8]] {
        let table = zip(storedLengths, checksums).flatMap { length, checksum in
            UInt32(length).littleEndianBytes + checksum.littleEndianBytes
        }
        return [
            "key": Array(metadata.key.string.utf8), "source": Array(metadata.source.utf8),
            "destination name": Array(metadata.destination.name.string.utf8),
            "destination folder": Array((metadata.destination.folder?.string ?? "").utf8),
            "entity tag": Array((metadata.validator.entityTag ?? "").utf8),
            "last-modified date": Array((metadata.validator.lastModified ?? "").utf8),
            "attributes of the caller": metadata.attributes, "chunk table": table,
        ]
    }

    /// Takes the fields out of the footer as the rows of the article say they lie.
    func fields(described rows: [[String]]) throws -> [(tag: UInt64, value: [UInt8])] {
        var rest = footer.dropFirst(56).dropLast(32)
        var fields: [(tag: UInt64, value: [UInt8])] = []
        while !rest.isEmpty {
            var found: [String: UInt64] = [:]
            for row in rows {
                let offset = try #require(Int(row[0]))
                found[row[2]] = try Array(rest).integer(at: offset, width: Self.width(of: row[1]))
            }
            try #require(found["reserved"] == 0)
            let length = Int(try #require(found["value length"]))
            fields.append((try #require(found["tag"]), Array(rest.dropFirst(8).prefix(length))))
            rest = rest.dropFirst(8 + length)
        }
        return fields
    }

    /// The bytes of a type in the article.
    static func width(of type: String) throws -> Int {
        if type == "8 bytes" { return 8 }
        let bits = try #require(Int(type.dropFirst()), "no type '\(type)'")
        return bits / 8
    }
}

extension [UInt8] {
    /// A little-endian integer.
    fileprivate func integer(at offset: Int, width: Int) throws -> UInt64 {
        try #require(offset + width <= count)
        return UInt64.littleEndian(Array(self[offset..<offset + width]))
    }
}

extension FixedWidthInteger {
    fileprivate var littleEndianBytes: [UInt8] { withUnsafeBytes(of: littleEndian) { [UInt8]($0) } }
}

extension UInt64 {
    fileprivate static func littleEndian(_ bytes: [UInt8]) -> UInt64 {
        bytes.reversed().reduce(0) { $0 << 8 | UInt64($1) }
    }
}
