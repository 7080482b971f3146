import Foundation
import PrefetchCache

/// A file of this machine, in the role of something on a server that the user will probably want.
struct SourceFile: Sendable {
    let url: URL
    /// Under this name it is stored and asked for: its path below the folder that was chosen.
    let key: ItemKey
    /// Who provides it: the topmost folder on that path.
    let source: String
    /// Where it goes when the user opens it. Decided when it is stored: the item carries all that is
    /// needed to hand it over.
    let destination: Destination
    let facts: FileFacts

    var length: Int64 { facts.length }

    /// What the item says about itself.
    var metadata: ItemMetadata {
        ItemMetadata(key: key, source: source, destination: destination)
    }

    /// - Parameter isDocument: Whether the user shall meet the file in Documents, instead of the app
    ///   keeping it to itself.
    /// - Returns: `nil` for a file so deep down that its path is too long for a key.
    init?(_ file: FoundFile, isDocument: Bool) {
        guard let key = file.key else { return nil }
        self.key = key
        url = file.url
        source = file.folders.first ?? ""
        facts = file.facts
        // A name from elsewhere need not be a good one here.
        let name = FileName(sanitizing: file.url.lastPathComponent)
        // What can be downloaded again has no place in the user's backup.
        destination = isDocument ? .documents(name) : .applicationSupport(name, backup: .exclude)
    }
}
