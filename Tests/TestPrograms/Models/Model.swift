internal import FileSystemTestSupport
internal import Foundation
internal import PrefetchCaching

/// A large file that does not compress, and whose content follows from its number.
struct Model {
    static let pieceLength = 1 << 20

    let number: Int
    let length: Int64

    var key: ItemKey {
        get throws { try ItemKey("model-\(number)") }
    }

    var pieces: Int { Int(length) / Self.pieceLength }

    func metadata(_ intent: Intent) throws -> ItemMetadata {
        ItemMetadata(
            key: try key, source: "models.example.org", intent: intent,
            destination: .applicationSupport(
                FileName(sanitizing: "model-\(number).bin"), in: "Models", backup: .exclude))
    }

    func piece(_ index: Int) -> Data {
        var generator = SeededGenerator(seed: UInt64(number) << 32 | UInt64(index))
        return (0..<Self.pieceLength / 8).map { _ in generator.next() }.withUnsafeBytes { Data($0) }
    }

    func isRight(_ content: Data) -> Bool {
        content.count == length
            && (0..<pieces).allSatisfy { index in
                let start = content.startIndex + index * Self.pieceLength
                return content[start..<start + Self.pieceLength] == piece(index)
            }
    }
}
