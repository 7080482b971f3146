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
            if let error = ScalarClass(scalar).error { return error }
        }
        guard scalars.contains(where: \.isVisible) else { return .blank }
        return nil
    }
}

/// The class of a scalar by the rules of file names.
enum ScalarClass {
    case plain, separator, control, lineSeparator, bidirectionalControl

    init(_ scalar: Unicode.Scalar) {
        switch scalar {
        case "/", "\\": self = .separator
        case "\u{2028}", "\u{2029}": self = .lineSeparator
        case "\u{061C}", "\u{200E}", "\u{200F}", "\u{202A}"..."\u{202E}", "\u{2066}"..."\u{2069}":
            self = .bidirectionalControl
        default: self = scalar.properties.generalCategory == .control ? .control : .plain
        }
    }

    /// Why a name cannot contain the scalar, or `nil` when it can.
    var error: FileNameError? {
        switch self {
        case .plain: nil
        case .separator: .separator
        case .control: .controlCharacter
        case .lineSeparator: .lineSeparator
        case .bidirectionalControl: .bidirectionalControl
        }
    }
}

extension Unicode.Scalar {
    /// Whether a reader sees anything: neither white space nor a scalar that is not drawn, such as the
    /// zero-width space.
    fileprivate var isVisible: Bool {
        !properties.isWhitespace && !properties.isDefaultIgnorableCodePoint
    }
}
