import FileSystemTestSupport
import Foundation
import PrefetchFileSystem
import SystemPackage
import Testing

@testable import PrefetchCaching

/// An item that was written to a file, and what the article says of its bytes.
struct DescribedItem {
    private static let full = ItemMetadata(
        key: "feed/épisode 42", source: "feeds.example.org", intent: .userRequested,
        destination: .applicationSupport("Épisode 42.mp3", in: "Podcasts/Été", backup: .exclude),
        validator: Validator(entityTag: "W/\"5f3e\"", lastModified: "Tue, 15 Nov 1994 12:45:26 GMT"),
        priority: 0.625, storedAt: 1_700_000_000_123, expiresAt: 1_800_000_000_456,
        attributes: [0, 1, 2, 0xFF], url: URL(string: "https://media.example.org/42.mp3"))

    let metadata: ItemMetadata
    let content: [UInt8]
    let image: [UInt8]
    /// What a reader makes of the file.
    let summary: ItemFooter

    init(
        content: [UInt8], encoding: ItemEncoding, metadata: ItemMetadata = full, boot: UInt64? = nil
    ) throws {
        let folder = try TemporaryContainer()
        let live = LiveFileSystem()
        let codecs = CodecPool(parallelism: 1)
        let path = FilePath(folder.root.appending(path: "item").path)
        let file = try live.open(path, in: .workingDirectory, .createNew(.ownerReadWrite))
        defer { live.close(file) }
        let writer = try ItemWriter(
            file, of: live, codecs: codecs, metadata: metadata, encoding: .forced(encoding), boot: boot)
        _ = try content.withBytes { try writer.finish(appending: $0) }
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

    private var storedLengths: [Int] { summary.chunks.map { Int($0.storedBytes) } }

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
            "destination name": Array((metadata.destination?.name.string ?? "").utf8),
            "destination folder": Array((metadata.destination?.folder?.string ?? "").utf8),
            "entity tag": Array((metadata.validator.entityTag ?? "").utf8),
            "last-modified date": Array((metadata.validator.lastModified ?? "").utf8),
            "URL": Array((metadata.url?.absoluteString ?? "").utf8),
            "attributes of the caller": metadata.attributes,
            "boot": summary.boot?.littleEndianBytes ?? [], "chunk table": table,
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
