/// What the items of a workload are made of.
public enum Material: String, CaseIterable, Sendable {
    /// Real text, which LZ4 makes about half as long.
    case text
    /// Random bytes, as video and archives are to a compressor.
    case incompressible
}

/// Items of one material and size, each with a content of its own.
public struct Workload: Sendable {
    public let material: Material
    /// Bytes per item.
    public let size: Int
    public let contents: [[UInt8]]

    /// Items cut from `text`, evenly spread over it.
    public init(text: TextCorpus, size: Int, count: Int) {
        material = .text
        self.size = size
        contents = (0..<count).map { index in
            let start = (text.bytes.count - size) / max(1, count) * index
            return Array(text.bytes[start..<start + size])
        }
    }

    /// Items of random bytes, the same in every run.
    public init(incompressibleOf size: Int, count: Int) {
        material = .incompressible
        self.size = size
        var random = SplitMix64(seed: 0x5EED)
        contents = (0..<count).map { _ in
            [UInt8](unsafeUninitializedCapacity: size) { buffer, length in
                for start in stride(from: 0, to: size, by: 8) {
                    withUnsafeBytes(of: random.next()) { word in
                        for (offset, byte) in word.enumerated() where start + offset < size {
                            buffer.initializeElement(at: start + offset, to: byte)
                        }
                    }
                }
                length = size
            }
        }
    }
}

extension Workload {
    private init(_ whole: Workload, _ items: Range<Int>) {
        material = whole.material
        size = whole.size
        contents = Array(whole.contents[items])
    }

    /// Some of its items, as a workload.
    func part(_ items: Range<Int>) -> Workload { Workload(self, items) }

    /// What everybody calls an item.
    static func key(_ index: Int) -> String { "https://example.org/items/\(index)" }

    /// What an item is called once it was promoted.
    static func finalName(_ index: Int) -> String { "Document \(index)" }
}
