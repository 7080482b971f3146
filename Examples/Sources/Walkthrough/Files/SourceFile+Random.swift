import Foundation
import PrefetchCaching
import Storytelling

extension SourceFile {
    /// A new file of random bytes, which do not compress, in the app's temporary folder. The same length
    /// gives the same bytes.
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
