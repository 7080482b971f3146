import Foundation
import Storytelling

/// The source of the files.
enum SourceFolder {
    private static let documentation = ["/usr/share/doc", "/usr/share/man"]
    /// The fewest files that make a story.
    private static let fewestOnOwnAccount = 40
    private static let fewestOnDemand = 8

    /// Chooses files from `folder`, or, when that is `nil`, from the system's documentation, or else
    /// from the checkout that this program was built from.
    static func choose(_ folder: String?) throws(SourceError) -> SourceFiles {
        if let folder { return try choose(from: folder) }
        let checkout = URL(filePath: #filePath).appending(path: "../../../../..").standardized
        for folder in documentation.map({ URL(filePath: $0) }) + [checkout] {
            let chosen = SourceFiles(in: folder.resolvingSymlinksInPath(), shortest: 2048)
            if chosen.files.count >= fewestOnOwnAccount { return chosen }
        }
        throw SourceError(description: "there is no folder with enough files here; name one")
    }

    private static func choose(from name: String) throws(SourceError) -> SourceFiles {
        let folder = URL(filePath: name).resolvingSymlinksInPath()
        guard !name.isEmpty, let facts = FileFacts(of: folder) else {
            throw SourceError(description: "there is no folder '\(name.printable)'")
        }
        guard facts.kind == .folder else {
            throw SourceError(description: "'\(name.printable)' is no folder")
        }
        let chosen = SourceFiles(in: folder, shortest: 1)
        guard chosen.files.count >= fewestOnDemand else {
            throw SourceError(
                description: "'\(name.printable)' has \(chosen.files.count) readable files of up to 2 MiB; "
                    + "the walkthrough needs at least \(fewestOnDemand)")
        }
        return chosen
    }
}

/// The reason why there are no files to work with.
struct SourceError: Error {
    let description: String
}
