import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// The folder in which downloaded files wait to be stored.
///
/// A file and its note arrive within the delegate's callback and stay until the file is stored, so that one
/// that arrives just before the app is killed is found at the next launch. Each has its own folder, which appears
/// and disappears by renaming: a reader finds it complete or not at all.
struct Inbox: Sendable {
    /// The known facts about a waiting file: what it was to be, and what the server said.
    struct Note: Codable, Sendable {
        let wish: Wish
        let requested: URL
        private let url: URL
        private let status: Int
        private let fields: [String: String]

        init?(_ wish: Wish, _ requested: URL?, _ response: HTTPURLResponse) {
            guard let requested, let url = response.url else { return nil }
            self.wish = wish
            self.requested = requested
            self.url = url
            status = response.statusCode
            let fields = response.allHeaderFields.compactMap { name, value in
                (name as? String).flatMap { name in (value as? String).map { (name, $0) } }
            }
            self.fields = Dictionary(fields) { first, _ in first }
        }

        /// The response, made again after a launch; `nil` for a note that cannot be one.
        var response: HTTPURLResponse? {
            HTTPURLResponse(url: url, statusCode: status, httpVersion: nil, headerFields: fields)
        }
    }

    struct Entry: Sendable {
        let note: Note
        let file: URL
        fileprivate let folder: URL
    }

    private static let incomplete = "incomplete"

    private let folder: URL

    /// - Parameter folder: On the volume that `URLSession` downloads to, so that files are moved and not copied: below
    ///   the app's `tmp`.
    init(folder: URL) throws {
        self.folder = folder
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        // Entries that a killed app was adding or removing.
        for url in try contents() where url.pathExtension == Self.incomplete {
            try FileManager.default.removeItem(at: url)
        }
    }

    /// Moves a file in. Never waits, so that a callback can take its file before it returns.
    func take(_ file: URL, _ note: Note) throws {
        let complete = folder.appending(path: UUID().uuidString)
        let entry = complete.appendingPathExtension(Self.incomplete)
        try FileManager.default.createDirectory(at: entry, withIntermediateDirectories: false)
        try JSONEncoder().encode(note).write(to: Self.note(in: entry))
        try FileManager.default.moveItem(at: file, to: Self.file(in: entry))
        try FileManager.default.moveItem(at: entry, to: complete)
    }

    /// All waiting files.
    func entries() throws -> [Entry] {
        try contents().filter { $0.pathExtension != Self.incomplete }.compactMap { entry in
            do {
                let note = try JSONDecoder().decode(Note.self, from: Data(contentsOf: Self.note(in: entry)))
                return Entry(note: note, file: Self.file(in: entry), folder: entry)
            } catch is DecodingError {
                // From a version of the app with a different note. The file is opportunistic, and can be fetched again.
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
