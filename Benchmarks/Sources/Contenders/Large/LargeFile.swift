public import Foundation

/// A file that is to be stored as one item.
public struct LargeFile: Sendable {
    public let url: URL
    public let material: Material
    /// Bytes.
    public let size: Int

    /// Writes the file. Text is repeated when there is less of it: LZ4 does not look back that far.
    ///
    /// - Parameter size: Bytes, a multiple of 1 MiB.
    public init(_ material: Material, size: Int, text: TextCorpus, at url: URL) throws {
        self.url = url
        self.material = material
        self.size = size
        guard FileManager.default.createFile(atPath: url.path(percentEncoded: false), contents: nil) else {
            throw CocoaError(.fileWriteUnknown)
        }
        let file = try FileHandle(forWritingTo: url)
        var random = SplitMix64(seed: 0x5EED)
        var written = 0
        while written < size {
            let piece =
                switch material {
                case .text: Data(text.bytes.prefix(size - written))
                case .incompressible: Self.randomMebibyte(&random)
                }
            try file.write(contentsOf: piece)
            written += piece.count
        }
        try file.close()
    }

    private static func randomMebibyte(_ random: inout SplitMix64) -> Data {
        let words = (0..<(1 << 20) / 8).map { _ in random.next() }
        return words.withUnsafeBytes { Data($0) }
    }
}
