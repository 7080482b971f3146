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
    init(
        _ key: ItemKey, to area: Area = .documents, backup: BackupPolicy = .include, source: String = "",
        intent: Intent = .opportunistic, validator: Validator = Validator(), priority: Float = 0,
        expiresAt: Int64? = nil
    ) {
        self.init(
            key: key, source: source, intent: intent,
            destination: .in(area, FileName(sanitizing: key.string), backup: backup), validator: validator,
            priority: priority)
        self.expiresAt = expiresAt
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

extension ItemKey {
    init(number: Int) throws { try self.init("item-\(number)") }
}
