extension FileName {
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
        switch ScalarClass(scalar) {
        case .plain: scalar
        case .separator: "_"
        case .lineSeparator: " "
        case .control: scalar.properties.isWhitespace ? " " : nil
        case .bidirectionalControl: nil
        }
    }

    /// Drops white space at both ends, and dots at the beginning.
    private static func trimmed(_ string: String) -> String {
        let scalars = string.unicodeScalars.drop { $0 == "." || $0.properties.isWhitespace }
        guard let last = scalars.lastIndex(where: { !$0.properties.isWhitespace }) else { return "" }
        return String(String.UnicodeScalarView(scalars[...last]))
    }
}
