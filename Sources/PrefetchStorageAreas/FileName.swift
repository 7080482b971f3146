package import SystemPackage

/// The name of a file as the user sees it: one safe component of a path.
///
/// It has 1 to ``maximumLength`` bytes of UTF-8, something visible, no leading dot, no separator
/// (`/`, and `\` for the systems that files are copied to), no control character, no line or
/// paragraph separator, and no control of bidirectional text, which can make `fdp.exe` look like
/// `exe.pdf`.
///
/// Two names are equal when their bytes are. Swift considers a composed and a decomposed `é` equal;
/// to most file systems they are two files.
public struct FileName: Sendable, CustomStringConvertible {
    /// The longest name that every common file system accepts, in bytes of UTF-8.
    public static let maximumLength = 255

    /// The name as text.
    public let string: String

    public var description: String { string }

    /// Creates a name.
    ///
    /// - Throws: ``FileNameError``, for the first rule that `string` breaks.
    public init(_ string: String) throws(FileNameError) {
        if let error = Self.error(in: string) { throw error }
        self.init(checked: string)
    }

    /// Creates a name from a string in which ``error(in:)`` finds nothing wrong.
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
    /// The name has only white space and invisible characters.
    case blank
    /// The name has more than ``FileName/maximumLength`` bytes of UTF-8.
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
            "a file name may have \(FileName.maximumLength) bytes of UTF-8; this one has \(bytes): shorten it"
        case .leadingDot: "a file name may not begin with a dot, which would hide the file"
        case .separator: "a file name may not contain / or \\"
        case .controlCharacter: "a file name may not contain control characters"
        case .lineSeparator: "a file name may not contain line or paragraph separators"
        case .bidirectionalControl: "a file name may not contain controls of bidirectional text"
        }
    }
}

extension FileName: ExpressibleByStringLiteral {
    /// A name that is written out in the source. A literal that is not a file name is a programming
    /// error and traps; use ``init(_:)`` or ``init(sanitizing:)`` for strings from elsewhere.
    public init(stringLiteral literal: StaticString) {
        do {
            try self.init(literal.description)
        } catch {
            preconditionFailure("\(error)")
        }
    }
}

extension FileName {
    /// The first rule that `string` breaks, or `nil` when it is a valid name.
    ///
    /// The rules apply to scalars, not characters: a `/` and a combining mark after it form one
    /// character, and the kernel still sees the separator.
    static func error(in string: String) -> FileNameError? {
        let scalars = string.unicodeScalars
        guard let first = scalars.first else { return .empty }
        guard string.utf8.count <= maximumLength else { return .tooLong(bytes: string.utf8.count) }
        if first == "." { return .leadingDot }
        for scalar in scalars {
            if let error = error(in: scalar) { return error }
        }
        return scalars.contains(where: \.isVisible) ? nil : .blank
    }

    /// Why a name cannot contain a scalar, or `nil` when it can.
    private static func error(in scalar: Unicode.Scalar) -> FileNameError? {
        switch scalar {
        case "/", "\\": .separator
        case "\u{2028}", "\u{2029}": .lineSeparator
        case "\u{061C}", "\u{200E}", "\u{200F}", "\u{202A}"..."\u{202E}", "\u{2066}"..."\u{2069}":
            .bidirectionalControl
        default: scalar.properties.generalCategory == .control ? .controlCharacter : nil
        }
    }

    /// Makes a name of any string, such as a title from a server.
    ///
    /// A valid name stays as it is. Otherwise separators become `_`, line breaks and tabs become spaces,
    /// other controls and leading dots are dropped, white space at the ends is trimmed, and a long name
    /// is shortened between two characters, before its extension. If nothing is left, the name is `item`.
    ///
    /// - Complexity: O(*n*) in the length of `string`.
    public init(sanitizing string: String) {
        guard Self.error(in: string) != nil else {
            self.init(checked: string)
            return
        }
        let replaced = String(String.UnicodeScalarView(string.unicodeScalars.compactMap(Self.replacement)))
        let shortened = NameParts(Self.trimmed(replaced)).joined(limit: Self.maximumLength)
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

    /// Drops white space at both ends, and dots at the beginning.
    private static func trimmed(_ string: String) -> String {
        let scalars = string.unicodeScalars.drop { $0 == "." || $0.properties.isWhitespace }
        guard let last = scalars.lastIndex(where: { !$0.properties.isWhitespace }) else { return "" }
        return String(String.UnicodeScalarView(scalars[...last]))
    }

    /// The name with a number before its extension, for when the plain one is taken:
    /// `film.mp4` becomes `film (2).mp4`. The stem is shortened if the number does not fit.
    public func numbered(_ number: Int) -> FileName {
        var parts = NameParts(string)
        parts.number = " (\(number))"
        return FileName(checked: parts.joined(limit: Self.maximumLength))
    }

    /// Shorter names are not tried: every file system takes this one.
    private static let shortest = 32

    /// The characters that FAT and exFAT refuse, beside those that no name may have.
    private static let refusedByFAT: Set<Unicode.Scalar> = ["\"", "*", ":", "<", ">", "?", "|"]

    /// A similar name, for a file system that has refused this one: for `ENAMETOOLONG` one with a shorter stem, else
    /// one without the characters that some file systems refuse, and then one in ASCII.
    ///
    /// - Returns: `nil` when there is nothing left to change.
    package func adapted(to errno: Errno) -> FileName? {
        if errno == .fileNameTooLong {
            let limit = string.utf8.count * 3 / 4
            guard limit >= Self.shortest else { return nil }
            return different(shortened(to: limit).string)
        }
        return different(replacing { Self.refusedByFAT.contains($0) }) ?? different(replacing { !$0.isASCII })
    }

    /// The same name, or if it has more bytes one with a shorter stem. At least 50 bytes leave room for the extension.
    package func shortened(to bytes: Int) -> FileName {
        string.utf8.count > bytes ? FileName(checked: NameParts(string).joined(limit: bytes)) : self
    }

    private func replacing(where isRefused: (Unicode.Scalar) -> Bool) -> String {
        var scalars = String.UnicodeScalarView(string.unicodeScalars.map { isRefused($0) ? "_" : $0 })
        // FAT drops dots and spaces at the end.
        while let last = scalars.last, last == "." || last == " " { scalars.removeLast() }
        return String(scalars)
    }

    private func different(_ string: String) -> FileName? {
        let name = FileName(sanitizing: string)
        return name == self ? nil : name
    }
}

/// A file name split into parts, so that only its stem is shortened.
struct NameParts {
    /// The stem when nothing of the original name can be used.
    static let fallbackStem = "item"

    var stem: Substring
    var number = ""
    /// The dot and what follows it, or empty.
    var suffix: Substring

    /// An extension is the 1 to 16 ASCII letters and digits after the last dot. A longer ending, or one
    /// with a space as in `Mr. Smith`, is a part of the title.
    init(_ name: String) {
        stem = name[...]
        suffix = ""
        guard let dot = name.unicodeScalars.lastIndex(of: "."), dot > name.startIndex else { return }
        let letters = name.unicodeScalars[dot...].dropFirst()
        guard (1...16).contains(letters.count), letters.allSatisfy(\.isASCIIAlphanumeric) else { return }
        stem = name[..<dot]
        suffix = name[dot...]
    }

    /// The whole name, with as much of the stem as `limit` bytes of UTF-8 allow. `limit` must leave
    /// room for the other parts and the fallback stem.
    func joined(limit: Int) -> String {
        let end = number + suffix
        let start = stem.prefix(bytes: limit - end.utf8.count)
        return (start.isEmpty ? Self.fallbackStem : String(start)) + end
    }
}

extension Substring {
    /// The most whole characters that fit into `limit` bytes of UTF-8.
    fileprivate func prefix(bytes limit: Int) -> Substring {
        var length = 0
        return prefix { character in
            length += character.utf8.count
            return length <= limit
        }
    }
}

extension Unicode.Scalar {
    /// Whether a reader sees anything: neither white space nor a scalar that is not drawn, such as the
    /// zero-width space.
    fileprivate var isVisible: Bool {
        !properties.isWhitespace && !properties.isDefaultIgnorableCodePoint
    }

    fileprivate var isASCIIAlphanumeric: Bool {
        switch self {
        case "a"..."z", "A"..."Z", "0"..."9": true
        default: false
        }
    }
}
