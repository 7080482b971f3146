import Foundation

/// The folder in which downloaded files wait to be stored.
///
/// A file and its note get there within the delegate's callback and stay until they are stored, so that one that comes
/// just before the app is killed is found at the next launch.
struct Inbox: Sendable {
    /// What is known of a file that waits.
    struct Note: Codable, Sendable {
        let wish: Wish
        let entityTag: String?
    }

    struct Entry: Sendable {
        let file: URL
        let note: Note
        fileprivate let noteFile: URL
    }

    private let folder: URL

    /// - Parameter folder: On the volume that `URLSession` downloads to, that files can be moved and need not be
    ///   copied: below the app's `tmp`.
    init(folder: URL) throws {
        self.folder = folder
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    /// Moves a file in. Fast, and does not wait for anybody: for a callback that has to take the file before it returns.
    func take(_ file: URL, _ note: Note) throws {
        let name = UUID().uuidString
        // The note first: a file without one could not be stored.
        try JSONEncoder().encode(note).write(to: folder.appending(path: "\(name).json"), options: .atomic)
        try FileManager.default.moveItem(at: file, to: folder.appending(path: name))
    }

    /// All that waits. Notes whose files never came are removed.
    func entries() throws -> [Entry] {
        let files = try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
        return try files.filter { $0.pathExtension == "json" }.compactMap { noteFile in
            let file = noteFile.deletingPathExtension()
            guard FileManager.default.fileExists(atPath: file.path) else {
                try FileManager.default.removeItem(at: noteFile)
                return nil
            }
            let note = try JSONDecoder().decode(Note.self, from: Data(contentsOf: noteFile))
            return Entry(file: file, note: note, noteFile: noteFile)
        }
    }

    /// The file first: what is left of a removal that was interrupted is a note, see ``entries()``.
    func remove(_ entry: Entry) throws {
        try FileManager.default.removeItem(at: entry.file)
        try FileManager.default.removeItem(at: entry.noteFile)
    }
}
