internal import Foundation
internal import SystemPackage

/// A pattern for the paths of files in a container, such as `Documents/**/*.pdf`.
///
/// Between its slashes are names, in which `*` stands for any number of characters and `?` for one, and `**`, which
/// stands for any number of folders; at the end it stands for everything below. Unlike in a shell, wildcards match
/// leading dots: no file is to be overlooked. Names are compared scalar by scalar, and a byte that is no text is one.
package struct PathPattern: Sendable {
    package let text: String
    private let expression: NSRegularExpression
    /// What a path begins with that matches. To compare it first spares most expressions.
    private let beginning: [UInt8]
    /// How specific each part is: 0 for `**`; for a name with wildcards 1, and 1 more for each other character; and for
    /// a plain name the largest.
    private let weights: [Int]

    package init(_ text: String) throws(PathPatternError) {
        guard !text.isEmpty else { throw .empty }
        guard !text.utf8.contains(0) else { throw .hasNUL }
        guard !text.hasPrefix("/") else { throw .absolute }
        guard !text.hasSuffix("/") else { throw .endsWithSlash }
        var parts: [Substring.UnicodeScalarView] = []
        // By scalars, as the system does: a slash and a combining character make one `Character`.
        for part in text.unicodeScalars.split(separator: "/", omittingEmptySubsequences: false) {
            switch Substring(part) {
            case "": throw .emptyPart
            case ".", "..": throw .dots
            case "**": if parts.last.map(Self.isFolders) == true { continue }
            default:
                guard !zip(part, part.dropFirst()).contains(where: { $0 == "*" && $1 == "*" }) else {
                    throw .starsInName
                }
            }
            parts.append(part)
        }
        if parts.last.map(Self.isFolders) == true { parts.append(Substring("*").unicodeScalars) }
        self.text = text
        do {
            expression = try NSRegularExpression(pattern: Self.expression(for: parts))
        } catch {
            preconditionFailure("what is in a name is escaped: \(error)")
        }
        beginning = Array(text.utf8.prefix { $0 != UInt8(ascii: "*") && $0 != UInt8(ascii: "?") })
        weights = parts.map { part in
            if Self.isFolders(part) { return 0 }
            let plain = part.count { $0 != "*" && $0 != "?" }
            return plain == part.count ? .max : 1 + plain
        }
    }

    private static func isFolders(_ part: Substring.UnicodeScalarView) -> Bool {
        part.elementsEqual("**".unicodeScalars)
    }

    private static func expression(for parts: [Substring.UnicodeScalarView]) -> String {
        let runs = parts.split(omittingEmptySubsequences: false, whereSeparator: isFolders).map { names in
            names.map(expression).joined(separator: "/")
        }
        let folders = runs.enumerated().map { $0 < runs.count - 1 && !$1.isEmpty ? $1 + "/" : $1 }
        return "\\A\(joined(folders, by: "(?:[^/]++/)*?"))\\z"
    }

    private static func expression(for name: Substring.UnicodeScalarView) -> String {
        let pieces = name.split(separator: "*", omittingEmptySubsequences: false).map { piece in
            piece.map { $0 == "?" ? "[^/]" : NSRegularExpression.escapedPattern(for: String($0)) }.joined()
        }
        return joined(pieces, by: "[^/]*?")
    }

    /// What stands between two wildcards is taken where it is found first, for good: a later place is no better, and to
    /// try it would take a hostile pattern for ever.
    private static func joined(_ pieces: [String], by wildcard: String) -> String {
        guard let first = pieces.first, let last = pieces.dropFirst().last else { return pieces.joined() }
        return first + pieces.dropFirst().dropLast().map { "(?>\(wildcard)\($0))" }.joined() + wildcard + last
    }

    /// Whether two patterns are the same but for their spelling, as `a/**` and `a/**/*` are.
    func isEquivalent(to other: PathPattern) -> Bool {
        expression.pattern.utf8.elementsEqual(other.expression.pattern.utf8)
    }

    /// - Parameter path: As a container has it.
    /// - Complexity: O(*nm*) in the lengths of the pattern and the path.
    func matches(_ path: String) -> Bool {
        path.utf8.starts(with: beginning)
            && expression.firstMatch(in: path, range: NSRange(location: 0, length: path.utf16.count)) != nil
    }

    /// Whether this pattern wins over another one that matches the same file.
    ///
    /// They are compared part by part from the left: a plain name wins over one with wildcards, and that over `**`; of
    /// two names with wildcards, the one with more other characters wins; and at last the pattern with more parts.
    func isMoreSpecific(than other: PathPattern) -> Bool {
        other.weights.lexicographicallyPrecedes(weights)
    }

    /// The pattern that matches a path and as little else as possible: what is no text and a `*` become `?`.
    static func text(for path: FilePath) -> String {
        var text = String.UnicodeScalarView()
        for scalar in path.string.unicodeScalars {
            text.append(scalar == "*" || scalar == "\u{FFFD}" ? "?" : scalar)
        }
        return String(text)
    }
}

/// Why a text is not a pattern.
package enum PathPatternError: String, Error, CaseIterable, CustomStringConvertible {
    case empty = "it is empty: write a path such as Documents/**"
    case hasNUL = "it has a character NUL, which no path has: remove it"
    case absolute = "it begins with a slash: write it as seen from the container, such as Documents/**"
    case endsWithSlash = "it ends with a slash: for everything in a folder write for example Documents/**"
    case emptyPart = "two slashes follow each other: remove one of them"
    case dots = "it has a part '.' or '..': write the path as it is, such as Documents/Inbox/**"
    case starsInName =
        "'**' stands for folders and is a part of its own: write for example Documents/**/*.pdf"

    package var description: String { rawValue }
}
