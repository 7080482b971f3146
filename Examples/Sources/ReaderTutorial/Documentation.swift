import Foundation
import Storytelling

/// A set of pages, as its server describes it.
struct Documentation: Codable, Sendable {
    struct Page: Codable, Sendable {
        let path: String
        let bytes: Int64
    }

    let title: String
    let version: String
    /// Where the pages of this version are.
    let base: URL
    let pages: [Page]
}

extension Documentation {
    private static let chapters = [
        "Basics", "Functions", "Closures", "Structures", "Enumerations", "Protocols", "Generics", "Errors",
        "Tasks", "Actors", "Continuations", "Macros",
    ]

    /// Puts the first chapters of a documentation on the server, and the index that names them.
    ///
    /// - Returns: The URL of the index, which is the same for all versions.
    static func publish(
        _ title: String, version: String, chapters count: Int, on server: MediaServer
    ) throws -> URL {
        let place = title.lowercased().replacing(" ", with: "-")
        let pages = try chapters.prefix(count).enumerated().map { number, chapter in
            let content = Data(text(of: chapter, version, next: chapters[(number + 1) % chapters.count]).utf8)
            let path = "\(chapter).md".lowercased()
            try server.publish(content, as: "\(place)/\(version)/\(path)")
            return Page(path: path, bytes: Int64(content.count))
        }
        let base = try server.url("\(place)/\(version)")
        let index = Documentation(title: title, version: version, base: base, pages: pages)
        return try server.publish(JSONEncoder().encode(index), as: "\(place).json")
    }

    /// Some 200 KiB, which begin with a heading and end with a hint at another chapter.
    private static func text(of chapter: String, _ version: String, next: String) -> String {
        var generator = SplitMix64(state: UInt64(chapter.count))
        let words = [
            "a", "value", "of", "the", "type", "is", "copied", "when", "shared", "called", "with", "never",
        ]
        let lines = (1...3000).map { _ in
            (1...12).map { _ in words[Int(generator.next() % UInt64(words.count))] }.joined(separator: " ")
        }
        return "# \(chapter)\n\nVersion \(version)\n\n\(lines.joined(separator: "\n"))\n\nSee also: \(next)\n"
    }
}
