import FileSystemTestSupport
import Foundation
import PrefetchFileSystem
import PrefetchItemFormat
import SystemPackage

/// A file in a folder of its own, open for one test.
struct ItemFile {
    let path: FilePath
    let descriptor: Descriptor
    let fileSystem: RecordingFileSystem

    func writer(
        _ metadata: ItemMetadata, encoding: EncodingChoice = .automatic, boot: UInt64? = nil,
        parallelism: Int = 1, admit: @escaping (Int64) throws -> Void = { _ in }
    ) throws(ItemFormatError) -> ItemWriter {
        try ItemWriter(
            descriptor, of: fileSystem, codecs: CodecPool(parallelism: parallelism), metadata: metadata,
            encoding: encoding, boot: boot, admit: admit)
    }

    func reader(parallelism: Int = 1) throws(ItemFormatError) -> ItemReader {
        try ItemReader(descriptor, of: fileSystem, codecs: CodecPool(parallelism: parallelism))
    }

    /// Writes an item whose content is known as a whole.
    @discardableResult
    func write(
        _ content: [UInt8], _ metadata: ItemMetadata, encoding: EncodingChoice = .automatic,
        boot: UInt64? = nil, parallelism: Int = 1
    ) throws -> ItemSummary {
        let writer = try writer(metadata, encoding: encoding, boot: boot, parallelism: parallelism)
        return try content.withUnsafeBytes { try writer.finish(appending: $0) }
    }

    /// Reads the whole item.
    func read(parallelism: Int = 1) throws -> Item {
        let reader = try reader(parallelism: parallelism)
        return Item(footer: reader.footer, content: try reader.bytes(0..<reader.footer.contentBytes))
    }

    /// Why the item cannot be read, or `nil` when it can.
    func failure() throws -> ItemFormatError? {
        do {
            _ = try read()
            return nil
        } catch let error as ItemFormatError {
            return error
        }
    }

    /// The file as it is.
    func image() throws -> [UInt8] {
        [UInt8](try Data(contentsOf: URL(filePath: path.string)))
    }

    /// Puts other bytes in the place of the file's content.
    func replace(with image: [UInt8]) throws {
        let live = LiveFileSystem()
        try live.resize(descriptor, to: 0)
        try live.writeAll(image, to: descriptor, at: 0)
    }
}

/// An item as it was read.
struct Item {
    let footer: ItemFooter
    let content: [UInt8]
}

extension ItemReader {
    /// A range of the content.
    func bytes(_ range: Range<Int64>) throws -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: range.count)
        try bytes.withUnsafeMutableBytes { try read(range, into: $0) }
        return bytes
    }
}

/// Makes an empty file, hands it to `body`, and removes it.
func withItemFile<Result>(mostPerCall: Int = .max, _ body: (ItemFile) throws -> Result) throws -> Result {
    let live = LiveFileSystem()
    let path = FilePath(NSTemporaryDirectory()).appending("ItemFormatTests-\(UUID().uuidString)")
    let descriptor = try live.open(path, in: .workingDirectory, .createNew(.ownerReadWrite))
    defer {
        live.close(descriptor)
        do {
            try live.unlink(path, in: .workingDirectory)
        } catch {
            print("left behind: \(error)")
        }
    }
    return try body(
        ItemFile(
            path: path, descriptor: descriptor, fileSystem: RecordingFileSystem(mostPerCall: mostPerCall)))
}

/// The file of an item.
func image(
    of content: [UInt8], _ metadata: ItemMetadata, encoding: EncodingChoice = .automatic,
    boot: UInt64? = nil, parallelism: Int = 1
) throws -> [UInt8] {
    try withItemFile { file in
        try file.write(content, metadata, encoding: encoding, boot: boot, parallelism: parallelism)
        return try file.image()
    }
}

/// The item in a file.
func read(_ image: [UInt8]) throws -> Item {
    try withItemFile { file in
        try file.replace(with: image)
        return try file.read()
    }
}

/// Why the item in a file cannot be read, or `nil` when it can.
func failure(reading image: [UInt8]) throws -> ItemFormatError? {
    try withItemFile { file in
        try file.replace(with: image)
        return try file.failure()
    }
}
