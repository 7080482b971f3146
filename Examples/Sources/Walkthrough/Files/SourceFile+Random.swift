import Foundation
import PrefetchCache

extension SourceFile {
    /// A new file of random bytes, which no compression makes smaller, among the app's temporary
    /// files. The same length gives the same bytes.
    static func random(length: Int64, in areas: StorageAreas) throws -> SourceFile? {
        let folder = areas.temporaryURL
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let url = folder.appending(path: "random.bin")
        var generator = SplitMix64(state: 1)
        try Data((0..<length).map { _ in UInt8.random(in: .min ... .max, using: &generator) }).write(to: url)
        return FileFacts(of: url).flatMap { facts in
            SourceFile(FoundFile(url: url, folders: ["made here"], facts: facts), isDocument: true)
        }
    }
}

/// Steele, Lea and Flood's SplitMix64: the same numbers on every machine.
private struct SplitMix64: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
