import Foundation
import PrefetchItemFormat
import PrefetchStorageAreas
import Testing

/// An item whose file was written by version 1 of the format, once, and is kept for ever: what any
/// version wrote, every later one reads.
struct GoldenItem: Sendable, CustomTestStringConvertible {
    let name: String
    let encoding: ItemEncoding
    let content: [UInt8]
    let contentChecksum: UInt64
    let chunkCount: Int
    let metadata: ItemMetadata

    var testDescription: String { name }

    /// The file as it was written then.
    func image() throws -> [UInt8] {
        let url = Bundle.module.url(forResource: name, withExtension: "item", subdirectory: "Golden")
        return [UInt8](try Data(contentsOf: #require(url)))
    }

    static let all = [
        GoldenItem(
            name: "version-1-lz4", encoding: .lz4,
            content: repeating("Store ahead, within what the volume can spare. ", to: 2000),
            contentChecksum: 0x95E6_251D_72C9_62B0, chunkCount: 1,
            metadata: ItemMetadata(
                key: "golden/lz4", destination: .documents("Golden file.txt", backup: .include))),
        GoldenItem(
            name: "version-1-identity", encoding: .identity,
            content: Array(0...255), contentChecksum: 0x02D1_D705_4DB1_8B7D, chunkCount: 1,
            metadata: ItemMetadata(
                key: "golden/identity", source: "https://example.org/feed",
                destination: .applicationSupport("golden.bin", backup: .include), priority: 0.5,
                storedAt: 1_700_000_000_000, expiresAt: nil)),
        GoldenItem(
            name: "version-1-lz4-chunks", encoding: .lz4,
            content: repeating("0123456789abcdef", to: (1 << 20) + 5000),
            contentChecksum: 0x6BA6_958F_234E_15D6, chunkCount: 2,
            metadata: ItemMetadata(
                key: "golden/Größe/🗄", source: "https://example.org/Größe", intent: .userRequested,
                destination: .documents("Größe 42.txt", backup: .exclude),
                validator: Validator(
                    entityTag: "W/\"0123456789\"", lastModified: "Tue, 15 Nov 1994 12:45:26 GMT"),
                priority: 1, storedAt: 1_700_000_000_123, expiresAt: 1_800_000_000_456,
                attributes: Array(0...255))),
        GoldenItem(
            name: "version-1-folder", encoding: .identity,
            content: Array(0...255), contentChecksum: 0x02D1_D705_4DB1_8B7D, chunkCount: 1,
            metadata: ItemMetadata(
                key: "golden/folder",
                destination: .documents("Größe 42.txt", in: "Podcasts/Tägliche Größe", backup: .include))),
    ]

    private static func repeating(_ text: String, to length: Int) -> [UInt8] {
        let unit = Array(text.utf8)
        return Array(repeating: unit, count: length / unit.count + 1).joined().prefix(length).map(\.self)
    }
}

@Suite struct GoldenFileTests {
    @Test(arguments: GoldenItem.all)
    func whatVersion1WroteIsRead(golden: GoldenItem) throws {
        try expect(read(golden.image()), golden)
    }

    /// Not the same bytes: another liblz4 may find other matches.
    @Test(arguments: GoldenItem.all)
    func whatIsWrittenTodayReadsTheSame(golden: GoldenItem) throws {
        try expect(
            read(image(of: golden.content, golden.metadata, encoding: .forced(golden.encoding))), golden)
    }

    @Test(arguments: GoldenItem.all.filter { $0.encoding == .identity })
    func withoutCompressionTheSameBytesAreWritten(golden: GoldenItem) throws {
        let today = try image(of: golden.content, golden.metadata, encoding: .forced(.identity))
        #expect(try today == golden.image())
    }

    private func expect(_ item: Item, _ golden: GoldenItem) {
        #expect(areSame(item.content, golden.content))
        #expect(item.footer.encoding == golden.encoding)
        #expect(item.footer.contentBytes == Int64(golden.content.count))
        #expect(item.footer.contentChecksum == golden.contentChecksum)
        #expect(item.footer.chunks.count == golden.chunkCount)
        #expect(item.footer.metadata == golden.metadata)
    }
}

/// Writes the golden files that are missing, beside the sources. To be run once, by hand, when the
/// format gets a new version; a file that exists is never written again.
@Suite(
    .enabled(
        if: ProcessInfo.processInfo.environment["GENERATE_GOLDEN_FILES"] != nil,
        "Set GENERATE_GOLDEN_FILES to write the golden files of a new version."))
struct GoldenFileGenerator {
    @Test(arguments: GoldenItem.all)
    func generate(golden: GoldenItem) throws {
        let url = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "Golden/\(golden.name).item")
        guard !FileManager.default.fileExists(atPath: url.path(percentEncoded: false)) else { return }
        let image = try image(of: golden.content, golden.metadata, encoding: .forced(golden.encoding))
        try Data(image).write(to: url, options: .withoutOverwriting)
    }
}
