import Foundation

/// The folder in which downloaded files wait to be stored.
///
/// A file and what is known of it get there within the delegate's callback and stay until the file is stored, so that one
/// that comes just before the app is killed is found at the next launch. Each has a folder of its own, which appears and
/// goes by renaming: whoever looks finds it complete or not at all.
struct Inbox: Sendable {
    /// What is known of a file that waits.
    struct Note: Codable, Sendable {
        let wish: Wish
        let entityTag: String?
    }

    struct Entry: Sendable {
        let note: Note
        let file: URL
        fileprivate let folder: URL
    }

    private static let incomplete = "incomplete"

    private let folder: URL

    /// - Parameter folder: On the volume that `URLSession` downloads to, that files can be moved and need not be
    ///   copied: below the app's `tmp`.
    init(folder: URL) throws {
        self.folder = folder
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        // What a killed app was about to take in or to remove.
        for url in try contents() where url.pathExtension == Self.incomplete {
            try FileManager.default.removeItem(at: url)
        }
    }

    /// Moves a file in. Waits for nobody: for a callback that has to take the file before it returns.
    func take(_ file: URL, _ note: Note) throws {
        let complete = folder.appending(path: UUID().uuidString)
        let entry = complete.appendingPathExtension(Self.incomplete)
        try FileManager.default.createDirectory(at: entry, withIntermediateDirectories: false)
        try JSONEncoder().encode(note).write(to: Self.note(in: entry))
        try FileManager.default.moveItem(at: file, to: Self.file(in: entry))
        try FileManager.default.moveItem(at: entry, to: complete)
    }

    /// All that waits.
    func entries() throws -> [Entry] {
        try contents().filter { $0.pathExtension != Self.incomplete }.compactMap { entry in
            do {
                let note = try JSONDecoder().decode(Note.self, from: Data(contentsOf: Self.note(in: entry)))
                return Entry(note: note, file: Self.file(in: entry), folder: entry)
            } catch is DecodingError {
                // From a version of the app that wrote other notes. It was a guess, and can be fetched again.
                try remove(entry)
                return nil
            }
        }
    }

    func remove(_ entry: Entry) throws {
        try remove(entry.folder)
    }

    private func remove(_ entry: URL) throws {
        let removed = entry.appendingPathExtension(Self.incomplete)
        try FileManager.default.moveItem(at: entry, to: removed)
        try FileManager.default.removeItem(at: removed)
    }

    private func contents() throws -> [URL] {
        try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
    }

    private static func note(in entry: URL) -> URL { entry.appending(path: "note.json") }
    private static func file(in entry: URL) -> URL { entry.appending(path: "content") }
}
