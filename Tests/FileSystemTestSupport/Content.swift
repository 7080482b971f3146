package import Foundation

/// Content that follows from a key and a version: a header with kind, place, length and version, and then so many bytes out
/// of a pool that is the same in all processes. Which version it is it tells itself; of which key it is must be known.
package enum Content {
    private static let headerLength = 32
    /// What is repeated in a pool: longer than LZ4 looks back.
    private static let partLength = 256 << 10
    private static let poolLength = 4 << 20
    private static let shortest = 64
    private static let longest = 2 << 20

    private static let noise: Data = {
        var generator = SeededGenerator(seed: 42)
        let words = (0..<partLength / 8).map { _ in generator.next() }
        return repeated(words.withUnsafeBytes { Data($0) })
    }()

    private static let text: Data = {
        let words = ["episode", "chapter", "the", "volume", "is", "spare", "and", "opens", "later", "first"]
            .map { Array("\($0) ".utf8) }
        var generator = SeededGenerator(seed: 42)
        var text: [UInt8] = []
        while text.count < partLength { text += words[Int(generator.next() % UInt64(words.count))] }
        return repeated(Data(text.prefix(partLength)))
    }()

    private static func repeated(_ part: Data) -> Data {
        var pool = Data(capacity: poolLength)
        while pool.count < poolLength { pool.append(part) }
        return pool
    }

    /// A version of what a key stands for, the same whoever stores it: of a random kind, and of a length whose logarithm is
    /// evenly distributed.
    package static func of(_ key: String, version: UInt64 = 0) -> Data {
        // FNV-1a: the same in all processes, which `Hasher` is not.
        let hash = key.utf8.reduce(0xCBF2_9CE4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
        // Far from each other, also where key and version are close.
        var generator = SeededGenerator(seed: hash ^ (version &* 0xD1B5_4A32_D192_ED03))
        let exponent = Double.random(in: log(Double(shortest))...log(Double(longest)), using: &generator)
        let isText = UInt64.random(in: 0...1, using: &generator)
        return make(isText, length: Int(exp(exponent)), version: version, using: &generator)
    }

    /// Which version of a key's content it is; `nil` when it is none, be it another key's, or a part of one.
    package static func version(of content: Data, as key: String) -> UInt64? {
        guard content.count >= headerLength else { return nil }
        let version = content.withUnsafeBytes { bytes in
            bytes.loadUnaligned(fromByteOffset: headerLength - 8, as: UInt64.self)
        }
        return content == of(key, version: version) ? version : nil
    }

    package static func noise(_ length: Int, using generator: inout SeededGenerator) -> Data {
        make(0, length: length, version: 0, using: &generator)
    }

    private static func make(
        _ kind: UInt64, length: Int, version: UInt64, using generator: inout SeededGenerator
    ) -> Data {
        let place = Int.random(in: 0...(poolLength - length), using: &generator)
        var content = header(kind, UInt64(place), UInt64(length), version)
        content.append(body(kind, place, length))
        return content
    }

    private static func header(_ fields: UInt64...) -> Data {
        fields.withUnsafeBytes { Data($0) }
    }

    private static func body(_ kind: UInt64, _ place: Int, _ length: Int) -> Data {
        (kind == 0 ? noise : text).subdata(in: place..<place + length - headerLength)
    }
}
