import FileSystemTestSupport
import Foundation

@testable import PrefetchCaching

/// An item that a child process is to promote, and what it finds under the item's name.
struct PlannedItem: Sendable {
    enum Name: String, Sendable, CaseIterable {
        case free
        /// A file with other content.
        case foreign
        /// A file with just the item's content.
        case identical
    }

    let key: ItemKey
    /// How the item is cached, or `nil` when it is not.
    let cached: ItemEncoding?
    /// Whether it is stored once more because its user asked for it, and not just opened.
    let isDelivered: Bool
    let name: Name
    let area: Area
    /// Whether it becomes a folder of files.
    let isBundle: Bool
    /// How often it is opened.
    let opens: Int
    /// Bytes that no other item of a plan has.
    let content: Data

    init(
        _ key: ItemKey, cached: ItemEncoding?, isDelivered: Bool = false, name: Name = .free,
        area: Area = .documents, isBundle: Bool = false, length: Int = 30_000, opens: Int = 1
    ) {
        self.key = key
        self.cached = cached
        self.isDelivered = isDelivered
        self.name = name
        self.area = area
        self.isBundle = isBundle
        self.opens = opens
        let seed = key.hash.data.reduce(UInt64(7)) { $0 &* 31 &+ UInt64($1) }
        content = cached == .lz4 ? prose(length, seed: seed) : noise(length, seed: seed)
    }

    var foreignContent: Data? {
        switch name {
        case .free: nil
        case .foreign: Data("foreign, of the name \(key)".utf8)
        case .identical: content
        }
    }

    /// The files of a bundle; empty for a single file.
    var parts: [BundlePart] {
        guard isBundle else { return [] }
        let length = Int64(content.count)
        return [
            BundlePart("a.txt", contentBytes: length / 3), BundlePart("empty", contentBytes: 0),
            BundlePart("inner/b.txt", contentBytes: length - length / 3),
        ]
    }

    /// Whether its file, or its folder with just its files, is at a path.
    func isWhole(at url: URL) throws -> Bool {
        guard isBundle else { return try Data(contentsOf: url) == content }
        let files = try FileManager.default.subpathsOfDirectory(atPath: url.path).sorted()
        guard files == ["a.txt", "empty", "inner", "inner/b.txt"] else { return false }
        return try parts.reduce(Data()) { try $0 + Data(contentsOf: url.appending(path: $1.path.string)) }
            == content
    }

    var fileName: String { FileName(sanitizing: key.string).string }

    static func random(_ number: Int, using generator: inout SeededGenerator) throws -> PlannedItem {
        func oneIn(_ count: Int) -> Bool { Int.random(in: 0..<count, using: &generator) == 0 }
        func any<Element>(_ elements: [Element]) -> Element {
            elements[Int.random(in: 0..<elements.count, using: &generator)]
        }
        let isDelivered = oneIn(4)
        // A length in whole blocks matters: cutting a file within a block makes some file systems flush it.
        let isCached = !isDelivered || oneIn(2)
        let isBundle = oneIn(4)
        return PlannedItem(
            try ItemKey(number: number), cached: isCached ? any([.lz4, .identity]) : nil,
            isDelivered: isDelivered, name: any(isBundle ? [.free, .foreign] : Name.allCases),
            area: !isDelivered && oneIn(4) ? .applicationSupport : .documents, isBundle: isBundle,
            length: any([900, 30_000, 32_768, 32_768, 204_800]), opens: any([1, 2]))
    }
}
