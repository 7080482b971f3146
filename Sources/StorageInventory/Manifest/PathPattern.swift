internal import PrefetchFileSystem
internal import SystemPackage

/// A pattern for the paths of files in a container, such as `Documents/**/*.pdf`.
///
/// Between its slashes are names, in which `*` stands for any number of characters and `?` for one, and `**`, which
/// stands for any number of folders; at the end it stands for everything below. Unlike in a shell, wildcards match
/// leading dots: no file is to be overlooked. Names are compared byte by byte.
package struct PathPattern: Sendable, Hashable {
    private enum Symbol: Hashable, Sendable {
        case one
        case exactly(PatternPath.Unit)
    }

    /// A name; `nil` stands for `*`.
    private typealias Name = [Symbol?]

    package let text: String
    /// `nil` stands for `**`, which is never the last part.
    private let parts: [Name?]
    /// How specific each part is: 0 for `**`; for a name with wildcards 1, and 1 more for each other character; and for
    /// a plain name the largest.
    private let weights: [Int]

    package init(_ text: String) throws(PathPatternError) {
        guard !text.isEmpty else { throw .empty }
        guard !text.utf8.contains(0) else { throw .hasNUL }
        guard !text.hasPrefix("/") else { throw .absolute }
        guard !text.hasSuffix("/") else { throw .endsWithSlash }
        var parts: [Name?] = []
        // By scalars, as the system does: a slash and a combining character make one `Character`.
        for scalars in text.unicodeScalars.split(separator: "/", omittingEmptySubsequences: false) {
            let part = Substring(scalars)
            switch part {
            case "": throw .emptyPart
            case ".", "..": throw .dots
            case "**": if parts.last != .some(.none) { parts.append(nil) }
            default:
                guard !part.utf8.elementsPaired(UInt8(ascii: "*")) else { throw .starsInName }
                parts.append(Self.name(part))
            }
        }
        if parts.last == .some(.none) { parts.append([nil]) }
        self.text = text
        self.parts = parts
        weights = parts.map { name in
            guard let name else { return 0 }
            let plain = name.count { if case .exactly? = $0 { true } else { false } }
            return plain == name.count ? .max : 1 + plain
        }
    }

    private static func name(_ part: Substring) -> Name {
        part.unicodeScalars.map { scalar in
            switch scalar {
            case "*": nil
            case "?": .one
            default: .exactly(scalar.value)
            }
        }
    }

    package static func == (left: PathPattern, right: PathPattern) -> Bool {
        left.text.utf8.elementsEqual(right.text.utf8)
    }

    package func hash(into hasher: inout Hasher) { hasher.combine(Array(text.utf8)) }

    /// Whether two patterns are the same but for their spelling, as `a/**` and `a/**/*` are.
    func isEquivalent(to other: PathPattern) -> Bool { parts == other.parts }

    /// Whether this pattern wins over another one that matches the same file.
    ///
    /// They are compared part by part from the left: a plain name wins over one with wildcards, and that over `**`; of
    /// two names with wildcards, the one with more other characters wins; and at last the pattern with more parts.
    func isMoreSpecific(than other: PathPattern) -> Bool {
        other.weights.lexicographicallyPrecedes(weights)
    }

    /// - Complexity: O(*nm*) in the lengths of the pattern and the path.
    func matches(_ path: PatternPath) -> Bool {
        Self.matches(parts, path.names) { name, units in
            Self.matches(name, units) { symbol, unit in
                switch symbol {
                case .one: true
                case .exactly(let exactly): exactly == unit
                }
            }
        }
    }

    /// Whether a list matches a pattern in which `nil` stands for any number of elements. It is enough to go back to the
    /// last such place: what came before it needs no second try.
    private static func matches<Part, Element>(
        _ parts: [Part?], _ elements: [Element], _ isMatch: (Part, Element) -> Bool
    ) -> Bool {
        var part = 0
        var element = 0
        var again: (part: Int, element: Int)?
        while element < elements.count {
            if part < parts.count, parts[part] == nil {
                part += 1
                again = (part, element)
            } else if part < parts.count, let own = parts[part], isMatch(own, elements[element]) {
                part += 1
                element += 1
            } else if let next = again {
                part = next.part
                element = next.element + 1
                again = (part, element)
            } else {
                return false
            }
        }
        return parts[part...].allSatisfy { $0 == nil }
    }
}

/// A path, prepared to be compared with many patterns.
struct PatternPath {
    /// A Unicode scalar, or a byte that is not UTF-8.
    typealias Unit = UInt32

    fileprivate let names: [[Unit]]

    /// - Parameter path: Relative to the container.
    init(_ path: FilePath) {
        names = path.components.map(Self.units(of:))
    }

    init(_ folder: PatternPath, _ name: FilePath.Component) {
        names = folder.names + [Self.units(of: name)]
    }

    private static func units(of name: FilePath.Component) -> [Unit] {
        let bytes = FilePath(root: nil, [name]).bytes
        if bytes.allSatisfy({ $0 < 0x80 }) { return bytes.map(Unit.init) }
        var rest = bytes.makeIterator()
        var parser = Unicode.UTF8.ForwardParser()
        var units: [Unit] = []
        var offset = 0
        while true {
            switch parser.parseScalar(from: &rest) {
            case .valid(let scalar):
                units.append(UTF8.decode(scalar).value)
                offset += scalar.count
            case .error(let length):
                // Beyond all scalars.
                units += bytes[offset..<offset + length].map { 0x11_0000 + Unit($0) }
                offset += length
            case .emptyInput: return units
            }
        }
    }

    /// The pattern that matches this path and as little else as possible: what is no text and a `*` become `?`.
    var pattern: String { names.map(Self.pattern).joined(separator: "/") }

    private static func pattern(_ name: [Unit]) -> String {
        var text = ""
        for unit in name {
            let scalar = unit == 0x2A ? nil : Unicode.Scalar(unit)
            text.unicodeScalars.append(scalar ?? "?")
        }
        return text
    }
}

extension Substring.UTF8View {
    /// Whether an element occurs twice in a row.
    fileprivate func elementsPaired(_ element: UInt8) -> Bool {
        zip(self, dropFirst()).contains { $0 == element && $1 == element }
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
