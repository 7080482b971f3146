/// Why a string cannot be a ``FileName``.
public enum FileNameError: Error, Hashable, Sendable, CustomStringConvertible {
    case empty
    /// There is nothing to see: only white space and invisible characters.
    case blank
    case tooLong(bytes: Int)
    case leadingDot
    /// A `/` or a `\`.
    case separator
    /// A NUL, a newline or another character of the category Cc.
    case controlCharacter
    /// U+2028 or U+2029.
    case lineSeparator
    /// A character that reorders bidirectional text.
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
