import Contenders
import PrefetchCaching

/// The items of this program.
enum GrowthItem {
    private static let sources = 100

    /// The small items that make a cache large.
    static func small(_ number: Int) throws -> ItemMetadata {
        try ItemMetadata(
            key: ItemKey("https://example.org/feed/\(number)"), source: "feed \(number % sources)",
            destination: .documents(FileName("Note \(number)")))
    }

    /// Items that are stored while measuring. Their priority keeps them behind the small ones, so
    /// that what is evicted is the same at every size.
    static func measured(_ round: Int, _ number: Int) throws -> ItemMetadata {
        try ItemMetadata(
            key: ItemKey("https://example.org/round \(round)/\(number)"), source: "example.org",
            destination: .documents(FileName("Article \(round) \(number)")), priority: 1)
    }

    /// Between 100 and 300 bytes of text, and up to four times as many from some sources: a policy that weighs sources
    /// shall not find them alike.
    static func content(_ number: Int, from text: TextCorpus) -> [UInt8] {
        var random = SplitMix64(seed: UInt64(number))
        let length = Int.random(in: 100...300, using: &random) * (1 + number % sources % 4)
        let start = Int.random(in: 0...(text.bytes.count - length), using: &random)
        return Array(text.bytes[start..<start + length])
    }
}
