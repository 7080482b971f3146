public import Foundation

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
    /// The content of the one item there is, if that is too large to be held in memory; `contents` is empty then.
    public let file: URL?

    public var count: Int { file == nil ? contents.count : 1 }

    /// Items cut from `text`, evenly spread over it, or of random bytes, the same in every run.
    public init(_ material: Material = .text, of text: TextCorpus, size: Int, count: Int) {
        var random = SplitMix64(seed: 0x5EED)
        let contents = (0..<count).map { index in
            let start = (text.bytes.count - size) / max(1, count) * index
            return material == .text ? Array(text.bytes[start..<start + size]) : random.bytes(size)
        }
        self.init(material, size, contents)
    }

    /// One item, whose content is written to a file. Text is repeated when there is less of it: LZ4 does not look back that far.
    ///
    /// - Parameter size: Bytes, a multiple of 1 MiB.
    public init(_ material: Material, size: Int, text: TextCorpus, at url: URL) throws {
        self.init(material, size, [], url)
        guard FileManager.default.createFile(atPath: path, contents: nil) else {
            throw CocoaError(.fileWriteUnknown)
        }
        let file = try FileHandle(forWritingTo: url)
        var random = SplitMix64(seed: 0x5EED)
        var written = 0
        while written < size {
            let piece =
                switch material {
                case .text: Data(text.bytes.prefix(size - written))
                case .incompressible: Data(random.bytes(1 << 20))
                }
            try file.write(contentsOf: piece)
            written += piece.count
        }
        try file.close()
    }

    private init(_ material: Material, _ size: Int, _ contents: [[UInt8]], _ file: URL? = nil) {
        (self.material, self.size, self.contents, self.file) = (material, size, contents, file)
    }

    /// Some of its items, as a workload.
    func part(_ items: Range<Int>) -> Workload { Workload(material, size, Array(contents[items])) }

    /// Its items, dealt out to `tasks` in pieces of about the same length.
    func shares(_ tasks: Int) -> [Range<Int>] {
        (0..<tasks).map { count * $0 / tasks..<count * ($0 + 1) / tasks }
    }

    /// The path of the file.
    var path: String { file?.path(percentEncoded: false) ?? "" }

    public func content(_ index: Int) throws -> Data {
        try file.map { try Data(contentsOf: $0, options: .alwaysMapped) } ?? Data(contents[index])
    }

    /// What everybody calls an item.
    static func key(_ index: Int) -> String { "https://example.org/items/\(index)" }

    /// What an item is called once it was promoted.
    static func finalName(_ index: Int) -> String { "Document \(index)" }
}

/// Real text that is at hand on the machine, in one piece.
///
/// The documentation of the installed packages where there is any, else the licences that Debian
/// installs, else the sources of this checkout. Figures are therefore compared within one run.
public struct TextCorpus: Sendable {
    /// Enough that 64 KiB items hardly overlap; small enough to be held in memory.
    private static let largest = 32 << 20
    /// The least that gives a few hundred items different contents.
    private static let smallest = 256 << 10

    public let bytes: [UInt8]

    public init() throws {
        let sources = URL(filePath: #filePath).appending(path: "../../../../Sources").standardized
        let folders = ["/usr/share/doc", "/usr/share/common-licenses", sources.path(percentEncoded: false)]
        let texts = folders.lazy.map(Self.text)
        guard let bytes = texts.first(where: { $0.count >= Self.smallest }) else {
            throw ContenderError(
                "found less than \(Self.smallest >> 10) KiB of text in \(folders.joined(separator: ", "))")
        }
        self.bytes = bytes
    }

    /// The text files beneath a folder, one after the other in the order of their names.
    private static func text(in folder: String) -> [UInt8] {
        let names = FileManager.default.enumerator(atPath: folder)?.compactMap { $0 as? String } ?? []
        var bytes: [UInt8] = []
        for name in names.sorted() where !name.hasSuffix(".gz") {
            guard bytes.count < largest else { break }
            // A folder cannot be read, and a binary file has a NUL somewhere.
            guard let content = FileManager.default.contents(atPath: "\(folder)/\(name)"),
                !content.contains(0)
            else { continue }
            bytes += content
        }
        return bytes
    }
}

/// Steele, Lea and Flood's SplitMix64: the same numbers for the same seed, on every machine.
public struct SplitMix64: RandomNumberGenerator, Sendable {
    private var state: UInt64

    public init(seed: UInt64) {
        state = seed
    }

    public mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    public mutating func bytes(_ count: Int) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        bytes.withUnsafeMutableBytes { buffer in
            for start in stride(from: 0, to: count, by: 8) {
                withUnsafeBytes(of: next()) { word in
                    UnsafeMutableRawBufferPointer(rebasing: buffer[start...]).copyBytes(
                        from: word.prefix(count - start))
                }
            }
        }
        return bytes
    }
}
