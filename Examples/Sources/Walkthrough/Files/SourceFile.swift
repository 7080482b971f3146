import Foundation
import PrefetchCaching

/// A file of this machine that stands for a resource on a server that the user will probably want.
struct SourceFile: Sendable {
    let url: URL
    /// The key of the item: the path below the chosen folder.
    let key: ItemKey
    /// The provider: the topmost folder on that path.
    let source: String
    /// Where the item is moved when the user opens it. Decided when it is stored: the item carries
    /// everything that is needed to hand it over.
    let destination: Destination
    let facts: FileFacts

    var length: Int64 { facts.length }

    /// The metadata of the item.
    var metadata: ItemMetadata {
        ItemMetadata(key: key, source: source, destination: destination)
    }

    /// - Parameter isDocument: Whether the user sees the file in Documents, instead of the app keeping it
    ///   to itself.
    /// - Returns: `nil` for a file whose path is too long for a key.
    init?(_ file: FoundFile, isDocument: Bool) {
        guard let key = file.key else { return nil }
        self.key = key
        url = file.url
        source = file.folders.first ?? ""
        facts = file.facts
        // A name from elsewhere need not be valid here.
        let name = FileName(sanitizing: file.url.lastPathComponent)
        // Files that can be downloaded again do not belong in the user's backup.
        destination = isDocument ? .documents(name, backup: .include) : .applicationSupport(name)
    }
}
