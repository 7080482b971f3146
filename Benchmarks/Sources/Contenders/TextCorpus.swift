import Foundation

/// Real text that is at hand on the machine, in one piece.
///
/// The documentation of the installed packages where there is any, else the licences that Debian
/// installs, else the sources of this checkout. Figures are therefore compared within one run.
public struct TextCorpus: Sendable {
    /// Enough that 64 KiB items hardly overlap; small enough to be held in memory.
    public static let largest = 32 * 1024 * 1024
    /// The least that gives a few hundred items different contents.
    public static let smallest = 256 * 1024

    public let bytes: [UInt8]

    public init() throws {
        let sources = URL(filePath: #filePath).appending(path: "../../../../Sources").standardized
        let folders = ["/usr/share/doc", "/usr/share/common-licenses", sources.path(percentEncoded: false)]
        for folder in folders {
            let bytes = Self.text(in: folder)
            if bytes.count >= Self.smallest {
                self.bytes = bytes
                return
            }
        }
        throw TextCorpusMissing(folders: folders)
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

/// There is not enough text on this machine.
struct TextCorpusMissing: Error, CustomStringConvertible {
    let folders: [String]

    var description: String {
        "found less than \(TextCorpus.smallest / 1024) KiB of text in \(folders.joined(separator: ", "))"
    }
}
