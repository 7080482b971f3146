import FileSystemTestSupport
import Foundation
import PrefetchItemFormat
import PrefetchStorageAreas

/// Contents of items.
enum Sample {
    static let mebibyte = 1 << 20

    /// Bytes that do not compress.
    static func noise(_ length: Int, seed: UInt64 = 1) -> [UInt8] {
        var generator = SeededGenerator(seed: seed)
        let words = (0..<(length + 7) / 8).map { _ in generator.next() }
        return words.withUnsafeBytes { [UInt8]($0.prefix(length)) }
    }

    /// Words in a random order, which compress to less than a half, and no two mebibytes the same.
    static func text(_ length: Int, seed: UInt64 = 1) -> [UInt8] {
        let words = "the download had started before dawn and nobody on board knew which episode came next"
            .split(separator: " ").map { Array("\($0) ".utf8) }
        var generator = SeededGenerator(seed: seed)
        var bytes: [UInt8] = []
        bytes.reserveCapacity(length + 16)
        while bytes.count < length {
            bytes += words[Int(truncatingIfNeeded: generator.next() % UInt64(words.count))]
        }
        bytes.removeLast(bytes.count - length)
        return bytes
    }
}

/// Whether two contents are the same. Faster than `==` in a debug build, and a failed expectation
/// does not print megabytes.
func areSame(_ left: [UInt8], _ right: [UInt8]) -> Bool {
    left.withUnsafeBytes { left in
        right.withUnsafeBytes { right in
            guard left.count == right.count else { return false }
            guard let leftBase = left.baseAddress, let rightBase = right.baseAddress else { return true }
            return memcmp(leftBase, rightBase, left.count) == 0
        }
    }
}

extension ItemMetadata {
    /// The least that an item can say about itself.
    static func plain(key: ItemKey = "key") -> ItemMetadata {
        ItemMetadata(key: key, destination: .documents("name.txt", backup: .include))
    }

    /// Something in every field.
    static let full = ItemMetadata(
        key: "https://example.org/feed/42", source: "https://example.org/feed", intent: .userRequested,
        destination: .applicationSupport("Folge 42 – Größe.m4a", in: "Größe/42", backup: .exclude),
        validator: Validator(entityTag: "W/\"5f3e\"", lastModified: "Tue, 15 Nov 1994 12:45:26 GMT"),
        priority: 0.625, storedAt: 1_700_000_000_123, expiresAt: 1_800_000_000_456,
        attributes: [0, 1, 2, 0xFF])
}
