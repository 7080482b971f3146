import Foundation
import PrefetchCaching

/// A regular file below a folder.
struct FoundFile {
    let url: URL
    /// The folders from the searched one down to the file.
    let folders: [String]
    let facts: FileFacts

    var path: String { (folders + [url.lastPathComponent]).joined(separator: "/") }

    /// The path as a key, or `nil` when it is too long for one.
    var key: ItemKey? {
        do { return try ItemKey(path) } catch { return nil }
    }

    /// All regular files below `folder`, in the order of their names, without hidden ones. Symbolic
    /// links are not followed. Stops after `limit` files.
    static func all(below folder: URL, limit: Int) -> [FoundFile] {
        var found: [FoundFile] = []
        search(folder, [], limit, &found)
        return found
    }

    private static func search(
        _ folder: URL, _ folders: [String], _ limit: Int, _ found: inout [FoundFile]
    ) {
        let entries: [URL]
        do {
            entries = try FileManager.default.contentsOfDirectory(
                at: folder, includingPropertiesForKeys: nil, options: .skipsHiddenFiles)
        } catch {
            // The folder of another user: there is enough to find in others.
            return
        }
        for entry in entries.sorted(by: { $0.lastPathComponent < $1.lastPathComponent }) {
            guard found.count < limit else { return }
            guard let facts = FileFacts(of: entry) else { continue }
            switch facts.kind {
            case .regular: found.append(FoundFile(url: entry, folders: folders, facts: facts))
            case .folder: search(entry, folders + [entry.lastPathComponent], limit, &found)
            case .other: break
            }
        }
    }
}
