internal import FileSystemTestSupport
internal import Foundation
internal import PrefetchCaching

/// A tile of a map: a small file whose content follows from its number. By turns a picture, which does not compress, and
/// a list of names, which does.
struct Tile {
    let number: Int

    private static let names = [
        "river", "road", "bridge", "market", "church", "forest", "station", "harbour",
    ]

    var key: ItemKey {
        get throws { try ItemKey("tiles/14/\(number / 512)/\(number % 512)") }
    }

    /// The number of the tile with this key.
    static func number(of key: String) -> Int? {
        let parts = key.split(separator: "/").compactMap { Int($0) }
        return parts.count == 3 ? parts[1] * 512 + parts[2] : nil
    }

    var metadata: ItemMetadata {
        get throws {
            let key = try key
            return ItemMetadata(
                key: key, source: "tiles.example.org",
                destination: .applicationSupport(
                    FileName(sanitizing: key.string), in: "Tiles", backup: .exclude))
        }
    }

    var content: Data {
        var generator = SeededGenerator(seed: UInt64(number) &* 0x9E37_79B9 &+ 7)
        let words = 128 + Int(generator.next() % 512)
        if number % 2 == 0 {
            return (0..<words).map { _ in generator.next() }.withUnsafeBytes { Data($0) }
        }
        var text = "\(number)"
        for _ in 0..<words { text += " " + Self.names[Int(generator.next() % UInt64(Self.names.count))] }
        return Data(text.utf8)
    }
}
