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
