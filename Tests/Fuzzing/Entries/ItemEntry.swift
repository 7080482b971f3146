import FileSystemTestSupport
import ItemFormatTestSupport
import PrefetchFileSystem
import PrefetchStorageAreas

@testable import PrefetchItemFormat

/// The footer and the frames of an item's file.
func fuzzItem(_ input: [UInt8]) throws {
    let bytes = Seal.wished(input, Seal.item)
    let reader: ItemReader
    do {
        reader = try ItemReader(MemoryFile.descriptor, of: MemoryFile(bytes), codecs: ItemFuzzing.codecs)
    } catch {
        return try ItemFuzzing.requireVerdict(error)
    }
    let footer = reader.footer
    try ItemFuzzing.requireBounds(of: footer, fileLength: bytes.count)
    try ItemFuzzing.requireFixedPoint(footer)
    try ItemFuzzing.read(reader)
}

private enum ItemFuzzing {
    static let codecs = CodecPool(parallelism: 1)
    /// What is read of a content: frames of much more are the same again.
    static let longest: Int64 = 4 << 20

    static func requireVerdict(_ error: ItemFormatError) throws {
        switch error {
        case .purged, .damaged, .newerVersion: break
        default: throw BrokenProperty(description: "a file is purged, damaged or newer, not: \(error)")
        }
    }

    static func requireBounds(of footer: ItemFooter, fileLength: Int) throws {
        let (metadata, length) = (footer.metadata, footer.contentBytes)
        try require(footer.storedBytes == Int64(fileLength), "the stored length is the file's")
        try require((0...Int64(fileLength) * 255 + 65536).contains(length), "LZ4 packs 255 times at most")
        try require(Int64(footer.chunks.count) == (length + 1_048_575) / 1_048_576, "a chunk per MiB")
        let chunks = footer.chunks.reduce(Int64(0)) { $0 + Int64($1.storedBytes) }
        try require((0...Int64(fileLength) - 40).contains(chunks), "the chunks lie before the footer")
        try require((1...1024).contains(metadata.key.string.utf8.count), "the key has 1 to 1,024 bytes")
        try require((0...1).contains(metadata.priority), "the priority is 0 to 1")
        guard let destination = metadata.destination else {
            return try require(metadata.intent == .opportunistic, "what the user asked for has a destination")
        }
        try requireName(destination.name.string)
        for folder in destination.folder?.components ?? [] { try requireName(folder.string) }
    }

    /// What was decoded is written as other bytes at most once: in the order of the writer, without empty fields.
    static func requireFixedPoint(_ footer: ItemFooter) throws {
        let first = encode(footer)
        let again: ItemFooter
        do {
            again = try first.withUnsafeBytes { bytes in
                try ItemFooter(
                    decoding: bytes, trailer: Trailer(bytes.slice(bytes.count - 32..<bytes.count)),
                    fileLength: footer.storedBytes - Int64(ItemFuzzing.length(of: footer))
                        + Int64(bytes.count))
            }
        } catch {
            throw BrokenProperty(description: "what was read can be written and read again: \(error)")
        }
        try require(again.chunks == footer.chunks && again.contentBytes == footer.contentBytes, "as it was")
        try require(again.metadata.destination == footer.metadata.destination, "its destination, too")
        try require(encode(again) == first, "encoding is a fixed point")
    }

    private static func length(of footer: ItemFooter) -> Int {
        Int(footer.storedBytes - footer.chunks.reduce(0) { $0 + Int64($1.storedBytes) })
    }

    private static func encode(_ footer: ItemFooter) -> [UInt8] {
        ItemFooter.encode(
            metadata: footer.metadata, encoding: footer.encoding, contentBytes: footer.contentBytes,
            chunks: footer.chunks, chunksLength: footer.chunks.reduce(0) { $0 + Int64($1.storedBytes) })
    }

    /// Reads the content, or the beginning of it, and compares what comes with the checksums.
    static func read(_ reader: ItemReader) throws {
        let end = min(reader.footer.contentBytes, longest)
        var checksum = ContentChecksum()
        var received: Int64 = 0
        do {
            try reader.stream(0..<end) { piece in
                checksum.update(piece)
                received += Int64(piece.count)
            }
        } catch {
            return try requireVerdict(error)
        }
        try require(received == end, "all of the content is handed out")
        guard end == reader.footer.contentBytes else { return }
        try require(checksum.finalize() == reader.footer.contentChecksum, "it has the checksum of the footer")
    }
}

/// Whether a file has a footer that can be read.
func isReadable(_ bytes: [UInt8]) -> Bool {
    do {
        _ = try ItemReader(MemoryFile.descriptor, of: MemoryFile(bytes), codecs: ItemFuzzing.codecs)
        return true
    } catch {
        return false
    }
}
