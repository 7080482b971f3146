package import SystemPackage

/// A user-visible file name: a single safe path component.
///
/// It has 1 to ``maximumBytes`` bytes of UTF-8, at least one visible character, no leading dot, no separator (`/`, and
/// `\` for systems that files are copied to), no control characters, no line or paragraph separators, and no
/// bidirectional controls, which can make `fdp.exe` look like `exe.pdf`.
///
/// Names are compared byte by byte. Swift considers a composed and a decomposed `é` equal, but to most file systems
/// they are different files.
public struct FileName: Sendable, CustomStringConvertible {
    /// The length limit of common file systems, in bytes of UTF-8.
    public static let maximumBytes = 255

    /// The name as text.
    public let string: String

    public var description: String { string }

    /// Creates a name.
    ///
    /// - Throws: ``FileNameError`` for the first rule that `string` violates.
    public init(_ string: String) throws(FileNameError) {
        if let error = Self.error(in: string) { throw error }
        self.init(checked: string)
    }

    /// Creates a name from a string for which ``error(in:)`` returns `nil`.
    init(checked string: String) {
        self.string = string
    }
}

extension FileName: Hashable {
    /// Compares byte for byte.
    public static func == (left: FileName, right: FileName) -> Bool {
        left.string.utf8.elementsEqual(right.string.utf8)
    }

    public func hash(into hasher: inout Hasher) {
        var string = string
        string.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
    }
}

/// Why a string cannot be a ``FileName``.
public enum FileNameError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The name is empty.
    case empty
    /// The name has only whitespace and invisible characters.
    case blank
    /// The name has more than ``FileName/maximumBytes`` bytes of UTF-8.
    case tooLong(bytes: Int)
    /// The name begins with a dot.
    case leadingDot
    /// The name contains `/` or `\`.
    case separator
    /// The name contains NUL, a newline or another character of the category Cc.
    case controlCharacter
    /// The name contains U+2028 or U+2029.
    case lineSeparator
    /// The name contains a character that reorders bidirectional text.
    case bidirectionalControl

    public var description: String {
        switch self {
        case .empty: "a file name needs at least one character"
        case .blank: "a file name needs a visible character"
        case .tooLong(let bytes):
            "a file name may have \(FileName.maximumBytes) bytes of UTF-8; this one has \(bytes): shorten it"
        case .leadingDot: "a file name may not begin with a dot, which would hide the file"
        case .separator: "a file name may not contain / or \\"
        case .controlCharacter: "a file name may not contain control characters"
        case .lineSeparator: "a file name may not contain line or paragraph separators"
        case .bidirectionalControl: "a file name may not contain bidirectional text controls"
        }
    }
}

extension FileName: ExpressibleByStringLiteral {
    /// Creates a name from a literal. An invalid literal is a programming error and traps; use ``init(_:)`` or
    /// ``init(sanitizing:)`` for all other strings.
    public init(stringLiteral literal: StaticString) {
        do {
            try self.init(literal.description)
        } catch {
            preconditionFailure("\(error)")
        }
    }
}

extension FileName {
    /// The first rule that `string` violates, or `nil` if it is a valid name.
    ///
    /// The rules apply to scalars, not characters: `/` followed by a combining mark is a single `Character`, but the
    /// kernel still sees the separator.
    static func error(in string: String) -> FileNameError? {
        let scalars = string.unicodeScalars
        guard let first = scalars.first else { return .empty }
        guard string.utf8.count <= maximumBytes else { return .tooLong(bytes: string.utf8.count) }
        if first == "." { return .leadingDot }
        // Most names, without looking up the properties of each character.
        if string.utf8.allSatisfy(isPlain), string.utf8.contains(where: { $0 > UInt8(ascii: " ") }) {
            return nil
        }
        for scalar in scalars {
            if let error = error(in: scalar) { return error }
        }
        return scalars.contains(where: \.isVisible) ? nil : .blank
    }

    /// Whether a byte is an ASCII character that every name may contain.
    private static func isPlain(_ byte: UInt8) -> Bool {
        (0x20...0x7E).contains(byte) && byte != UInt8(ascii: "/") && byte != UInt8(ascii: "\\")
    }

    /// Why a name cannot contain a scalar, or `nil` if it can.
    private static func error(in scalar: Unicode.Scalar) -> FileNameError? {
        switch scalar {
        case "/", "\\": .separator
        case "\u{2028}", "\u{2029}": .lineSeparator
        case "\u{061C}", "\u{200E}", "\u{200F}", "\u{202A}"..."\u{202E}", "\u{2066}"..."\u{2069}":
            .bidirectionalControl
        default: scalar.properties.generalCategory == .control ? .controlCharacter : nil
        }
    }

    /// Creates a valid name from any string, such as a title from a server.
    ///
    /// A valid name is not changed. Otherwise separators become `_`, line breaks and tabs become spaces, other controls
    /// and leading dots are dropped, leading and trailing whitespace is trimmed, and the stem of a long name is
    /// truncated at a character boundary. If nothing is left, the name is `item`.
    ///
    /// - Complexity: O(*n*) in the length of `string`.
    public init(sanitizing string: String) {
        guard Self.error(in: string) != nil else {
            self.init(checked: string)
            return
        }
        let replaced = String(String.UnicodeScalarView(string.unicodeScalars.compactMap(Self.replacement)))
        let shortened = NameParts(Self.trimmed(replaced)).joined(limit: Self.maximumBytes)
        self.init(checked: Self.error(in: shortened) == nil ? shortened : NameParts.fallbackStem)
    }

    private static func replacement(_ scalar: Unicode.Scalar) -> Unicode.Scalar? {
        switch error(in: scalar) {
        case nil: scalar
        case .separator: "_"
        case .lineSeparator: " "
        case .controlCharacter where scalar.properties.isWhitespace: " "
        default: nil
        }
    }

    /// Trims whitespace at both ends, and leading dots.
    private static func trimmed(_ string: String) -> String {
        let scalars = string.unicodeScalars.drop { $0 == "." || $0.properties.isWhitespace }
        guard let last = scalars.lastIndex(where: { !$0.properties.isWhitespace }) else { return "" }
        return String(String.UnicodeScalarView(scalars[...last]))
    }

    /// The name with a number before its extension, for use if the name is taken: `film.mp4` becomes `film (2).mp4`.
    /// The stem is truncated if the number does not fit.
    public func numbered(_ number: Int) -> FileName {
        var parts = NameParts(string)
        parts.number = " (\(number))"
        return FileName(checked: parts.joined(limit: Self.maximumBytes))
    }

    /// In bytes. Shorter names are not tried, since every file system accepts this length.
    private static let shortest = 32

    /// The characters that FAT and exFAT do not allow, in addition to those that no name may contain.
    private static let refusedByFAT: Set<Unicode.Scalar> = ["\"", "*", ":", "<", ">", "?", "|"]

    /// A similar name to try if a file system has rejected this one: for `ENAMETOOLONG`, one with a shorter stem;
    /// otherwise one without the characters that FAT and exFAT do not allow, and then one in ASCII.
    ///
    /// - Returns: `nil` if there is nothing left to change.
    package func adapted(to errno: Errno) -> FileName? {
        if errno == .fileNameTooLong {
            let limit = string.utf8.count * 3 / 4
            guard limit >= Self.shortest else { return nil }
            return different(shortened(to: limit).string)
        }
        return different(replacing { Self.refusedByFAT.contains($0) }) ?? different(replacing { !$0.isASCII })
    }

    /// The name with its stem truncated to fit `bytes` bytes, of which at least 50 leave room for any extension.
    package func shortened(to bytes: Int) -> FileName {
        string.utf8.count > bytes ? FileName(checked: NameParts(string).joined(limit: bytes)) : self
    }

    private func replacing(where isRefused: (Unicode.Scalar) -> Bool) -> String {
        var scalars = String.UnicodeScalarView(string.unicodeScalars.map { isRefused($0) ? "_" : $0 })
        // FAT drops trailing dots and spaces.
        while let last = scalars.last, last == "." || last == " " { scalars.removeLast() }
        return String(scalars)
    }

    private func different(_ string: String) -> FileName? {
        let name = FileName(sanitizing: string)
        return name == self ? nil : name
    }
}

/// A file name split into parts, so that only its stem is truncated.
struct NameParts {
    /// The stem if nothing of the original name is usable.
    static let fallbackStem = "item"

    var stem: Substring
    var number = ""
    /// The extension with its dot, or empty.
    var suffix: Substring

    /// An extension is 1 to 16 ASCII letters and digits after the last dot. A longer ending, or one with a space as in
    /// `Mr. Smith`, is part of the title.
    init(_ name: String) {
        stem = name[...]
        suffix = ""
        guard let dot = name.unicodeScalars.lastIndex(of: "."), dot > name.startIndex else { return }
        let letters = name.unicodeScalars[dot...].dropFirst()
        guard (1...16).contains(letters.count), letters.allSatisfy(\.isASCIIAlphanumeric) else { return }
        stem = name[..<dot]
        suffix = name[dot...]
    }

    /// The complete name, with its stem truncated to fit `limit` bytes of UTF-8. `limit` must leave room for the other
    /// parts and the fallback stem.
    func joined(limit: Int) -> String {
        let end = number + suffix
        let start = stem.prefix(bytes: limit - end.utf8.count)
        return (start.isEmpty ? Self.fallbackStem : String(start)) + end
    }
}

extension StringProtocol where SubSequence == Substring {
    /// The longest prefix of whole characters that fits into `limit` bytes of UTF-8.
    package func prefix(bytes limit: Int) -> Substring {
        var length = 0
        return prefix { character in
            length += character.utf8.count
            return length <= limit
        }
    }
}

extension Unicode.Scalar {
    /// Whether the scalar is visible: neither whitespace nor default-ignorable, such as the zero-width space.
    fileprivate var isVisible: Bool {
        !properties.isWhitespace && !properties.isDefaultIgnorableCodePoint
    }

    var isASCIIAlphanumeric: Bool {
        switch self {
        case "a"..."z", "A"..."Z", "0"..."9": true
        default: false
        }
    }
}
