/// The name of a file as its user sees it: one component of a path, without tricks.
///
/// It has 1 to ``maximumLength`` bytes of UTF-8, something visible, no leading dot, no separator
/// (`/`, and `\` for the systems that files are copied to), no control character, no line or
/// paragraph separator, and none of the controls that reorder bidirectional text, with which
/// `fdp.exe` can be made to look like `exe.pdf`.
///
/// Two names are equal when their bytes are. To Swift, a composed and a decomposed `é` are one
/// string; to most file systems they are two files.
public struct FileName: Sendable, CustomStringConvertible {
    /// What every common file system accepts, in bytes of UTF-8.
    public static let maximumLength = 255

    public let string: String

    public var description: String { string }

    /// - Throws: ``FileNameError``, for the first rule that `string` breaks.
    public init(_ string: String) throws(FileNameError) {
        if let error = Self.error(in: string) { throw error }
        self.init(checked: string)
    }

    /// Takes a string in which ``error(in:)`` finds nothing.
    init(checked string: String) {
        self.string = string
    }
}

extension FileName: Hashable {
    public static func == (left: FileName, right: FileName) -> Bool {
        left.string.utf8.elementsEqual(right.string.utf8)
    }

    public func hash(into hasher: inout Hasher) {
        var string = string
        string.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
    }
}
