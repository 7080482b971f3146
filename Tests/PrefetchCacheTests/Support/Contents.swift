import FileSystemTestSupport
import Foundation

@testable import PrefetchCaching

/// Bytes that do not compress.
func noise(_ count: Int, seed: UInt64 = 1) -> Data {
    var generator = SeededGenerator(seed: seed)
    var words = [UInt64](repeating: 0, count: count / 8 + 1)
    for index in words.indices { words[index] = generator.next() }
    return words.withUnsafeBytes { Data($0.prefix(count)) }
}

/// Text that compresses, different for every seed.
func prose(_ count: Int, seed: UInt64 = 1) -> Data {
    let words = ["episode", "chapter", "the", "volume", "is", "spare", "and", "opens", "later", "first"]
    var generator = SeededGenerator(seed: seed)
    var text = Data()
    while text.count < count {
        text.append(contentsOf: Array((words.randomElement(using: &generator) ?? "").utf8))
        text.append(UInt8(ascii: " "))
    }
    return text.prefix(count)
}

extension ItemMetadata {
    /// Metadata with a destination that is named after the key.
    init(_ key: ItemKey, to area: Area = .documents) {
        self.init(key: key, destination: .in(area, FileName(sanitizing: key.string)))
    }
}

extension Destination {
    /// In an area that can be one.
    static func `in`(
        _ area: Area, _ name: FileName, _ folder: FolderPath? = nil, backup: BackupPolicy = .include
    ) -> Destination {
        guard let destination = Destination(area: area, name: name, in: folder, backup: backup) else {
            preconditionFailure("\(area) keeps nothing")
        }
        return destination
    }
}

extension Engine {
    @discardableResult
    func store(
        _ content: Data, _ key: ItemKey, to area: Area = .documents, encoding: EncodingChoice = .automatic,
        parts: [BundlePart] = []
    ) throws -> StoreOutcome {
        var metadata = ItemMetadata(key, to: area)
        metadata.parts = parts
        return try content.withBytes { bytes throws(CacheError) in
            try store(bytes, as: metadata, encoding: encoding)
        }
    }

    /// Stores an item whose destination is in a folder and named after the key.
    @discardableResult
    func store(
        _ content: Data, _ key: ItemKey, in folder: FolderPath, of area: Area = .documents,
        intent: Intent = .opportunistic, encoding: EncodingChoice = .automatic
    ) throws -> StoreOutcome {
        let metadata = ItemMetadata(
            key: key, intent: intent, destination: .in(area, FileName(sanitizing: key.string), folder))
        return try content.withBytes { bytes throws(CacheError) in
            try store(bytes, as: metadata, encoding: encoding)
        }
    }

    func content(_ key: ItemKey) throws -> Data? {
        try read(key, nil).value
    }
}

extension ItemKey {
    init(number: Int) throws {
        try self.init("item-\(number)")
    }
}
