internal import FileSystemTestSupport
internal import Foundation
internal import PrefetchCaching
internal import PrefetchDownloading

/// One item of the feed. Its content follows from its number and its version, which it names itself.
struct Episode: Hashable {
    let number: Int
    let version: Int

    private static let words = ["episode", "guest", "volume", "later", "open", "first", "chapter", "spare"]

    var name: String { "episode-\(number).bin" }

    var key: ItemKey {
        get throws { try ItemKey("episode-\(number)") }
    }

    /// Whether the feed tells the digest of it; for the others the server has to be asked.
    var hasDigest: Bool { number % 2 == 1 }

    /// Of a hundred, five are films, thirty are speeches, and the others articles.
    private func length(_ generator: inout SeededGenerator) -> Int {
        let length =
            switch number % 20 {
            case 0: Int.random(in: 5 << 20...9 << 20, using: &generator)
            case 1...6: Int.random(in: 100 << 10...900 << 10, using: &generator)
            default: Int.random(in: 2 << 10...40 << 10, using: &generator)
            }
        return length / 8 * 8
    }

    var content: Data {
        var generator = SeededGenerator(seed: UInt64(number) << 20 | UInt64(version))
        let length = length(&generator)
        var content = Data("episode \(number) version \(version)\n".utf8)
        if number % 20 < 7 {
            let noise = (0..<length / 8).map { _ in generator.next() }
            noise.withUnsafeBytes { content.append(contentsOf: $0) }
        } else {
            while content.count < length {
                content.append(contentsOf: Self.words[Int(generator.next() % UInt64(Self.words.count))].utf8)
            }
        }
        return content
    }

    var digest: [UInt8] { SHA256.digest(of: content) }

    /// Which version of an episode a content is; `nil` when it is none.
    static func version(of content: Data, as number: Int) -> Int? {
        let line = content.prefix(64).prefix { $0 != UInt8(ascii: "\n") }
        let words = String(decoding: line, as: UTF8.self).split(separator: " ")
        guard words.count == 4, words[1] == "\(number)", let version = Int(words[3]) else { return nil }
        return content == Episode(number: number, version: version).content ? version : nil
    }
}

/// The list of what there is, as it lies on the server.
struct FeedText {
    static let name = "feed.txt"
    let round: Int
    let episodes: [Episode]

    init(round: Int, episodes: [Episode]) {
        self.round = round
        self.episodes = episodes
    }

    var text: String {
        "feed \(round)\n" + episodes.map { "\($0.number) \($0.version)\n" }.joined()
    }

    init?(_ content: Data) {
        let lines = String(decoding: content, as: UTF8.self).split(separator: "\n")
        guard let first = lines.first, let round = Int(first.dropFirst("feed ".count)) else { return nil }
        self.round = round
        episodes = lines.dropFirst().compactMap { line in
            let numbers = line.split(separator: " ").compactMap { Int($0) }
            return numbers.count == 2 ? Episode(number: numbers[0], version: numbers[1]) : nil
        }
    }
}

/// What a daemon is to do in a round, as one line.
struct FeedRound {
    let number: Int
    /// Numbers of episodes.
    let toOpen: [Int]
    let openedBefore: [Int]

    var line: String {
        "\(number);\(toOpen.map(String.init).joined(separator: ","));"
            + openedBefore.map(String.init).joined(separator: ",")
    }

    init(number: Int, toOpen: [Int], openedBefore: [Int]) {
        self.number = number
        self.toOpen = toOpen
        self.openedBefore = openedBefore
    }

    init?(_ line: String) {
        let parts = line.split(separator: ";", omittingEmptySubsequences: false)
        guard parts.count == 3, let number = Int(parts[0]) else { return nil }
        self.number = number
        toOpen = parts[1].split(separator: ",").compactMap { Int($0) }
        openedBefore = parts[2].split(separator: ",").compactMap { Int($0) }
    }
}
