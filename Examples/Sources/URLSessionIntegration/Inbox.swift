import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// The folder in which downloaded files wait to be stored, so that one that arrives just before the app is killed is found
/// at the next launch.
///
/// The note on a file is there before the file, and is removed after it: a file always has its note.
struct Inbox: Sendable {
    /// The known facts about a waiting file: what it was to be, and what the server said.
    struct Note: Codable, Sendable {
        let wish: Wish
        let requested: URL
        let answered: URL
        let status: Int
        let fields: [String: String]

        init?(_ wish: Wish, _ requested: URL?, _ response: HTTPURLResponse) {
            guard let requested, let answered = response.url else { return nil }
            self.wish = wish
            self.requested = requested
            self.answered = answered
            status = response.statusCode
            let fields = response.allHeaderFields.compactMap { name, value in
                (name as? String).flatMap { name in (value as? String).map { (name, $0) } }
            }
            self.fields = Dictionary(fields) { first, _ in first }
        }

        /// The response, made again after a launch.
        var response: HTTPURLResponse? {
            HTTPURLResponse(url: answered, statusCode: status, httpVersion: nil, headerFields: fields)
        }
    }

    private let folder: URL

    /// - Parameter folder: On the volume that `URLSession` downloads to, so that files are moved and not copied: below
    ///   the app's `tmp`.
    init(folder: URL) throws {
        self.folder = folder
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        // Notes whose files had not come yet, or were stored already, when the app was killed.
        let files = try Set(files())
        for note in try contents() where note.pathExtension == "json" {
            guard !files.contains(note.deletingPathExtension()) else { continue }
            try FileManager.default.removeItem(at: note)
        }
    }

    /// Moves a file in. Never waits, so that a callback can take its file before it returns.
    func take(_ file: URL, _ note: Note) throws {
        let target = folder.appending(path: UUID().uuidString)
        try JSONEncoder().encode(note).write(to: target.appendingPathExtension("json"))
        try FileManager.default.moveItem(at: file, to: target)
    }

    func files() throws -> [URL] {
        try contents().filter { $0.pathExtension.isEmpty }
    }

    /// - Returns: `nil` for a note from a version of the app with different ones: the file can be fetched again.
    func note(on file: URL) throws -> Note? {
        let json = try Data(contentsOf: file.appendingPathExtension("json"))
        do { return try JSONDecoder().decode(Note.self, from: json) } catch is DecodingError { return nil }
    }

    /// Removes a file, unless the cache has taken it, and its note.
    func remove(_ file: URL) throws {
        do { try FileManager.default.removeItem(at: file) } catch CocoaError.fileNoSuchFile {}
        try FileManager.default.removeItem(at: file.appendingPathExtension("json"))
    }

    private func contents() throws -> [URL] {
        try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
    }
}
