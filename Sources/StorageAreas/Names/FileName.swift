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
