public import Foundation

/// Content that tells by itself whether it is whole: a header with kind, place and length, and then so
/// many bytes out of a pool that is the same in all processes.
public enum Content {
    private static let headerLength = 24
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

    /// Content of a random kind whose logarithm of the length is evenly distributed.
    public static func random(using generator: inout SeededGenerator) -> Data {
        let exponent = Double.random(in: log(Double(shortest))...log(Double(longest)), using: &generator)
        let isText = UInt64.random(in: 0...1, using: &generator)
        return make(isText, length: Int(exp(exponent)), using: &generator)
    }

    /// The one content of a key, whoever stores it.
    public static func of(_ key: String) -> Data {
        // FNV-1a: the same in all processes, which `Hasher` is not.
        let seed = key.utf8.reduce(0xCBF2_9CE4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
        var generator = SeededGenerator(seed: seed)
        return random(using: &generator)
    }

    public static func noise(_ length: Int, using generator: inout SeededGenerator) -> Data {
        make(0, length: length, using: &generator)
    }

    private static func make(_ kind: UInt64, length: Int, using generator: inout SeededGenerator) -> Data {
        let place = Int.random(in: 0...(poolLength - length), using: &generator)
        var content = header(kind, UInt64(place), UInt64(length))
        content.append(body(kind, place, length))
        return content
    }

    private static func header(_ fields: UInt64...) -> Data {
        fields.withUnsafeBytes { Data($0) }
    }

    private static func body(_ kind: UInt64, _ place: Int, _ length: Int) -> Data {
        (kind == 0 ? noise : text).subdata(in: place..<place + length - headerLength)
    }

    public static func isWhole(_ content: Data) -> Bool {
        guard content.count >= headerLength else { return false }
        let fields = content.prefix(headerLength).withUnsafeBytes { bytes in
            (0..<3).map { bytes.loadUnaligned(fromByteOffset: $0 * 8, as: UInt64.self) }
        }
        guard fields[0] <= 1, fields[2] == content.count, fields[1] <= UInt64(poolLength - content.count)
        else { return false }
        return content.dropFirst(headerLength) == body(fields[0], Int(fields[1]), content.count)
    }
}
