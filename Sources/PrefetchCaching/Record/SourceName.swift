/// The name of a source. Two that are only canonically equivalent are two, as in SQL, which compares bytes.
struct SourceName: Sendable {
    let text: String

    init(_ text: String) { self.text = text }
}

extension SourceName: Hashable, Comparable, ExpressibleByStringLiteral {
    init(stringLiteral text: String) { self.text = text }

    static func == (left: SourceName, right: SourceName) -> Bool {
        left.text.utf8.elementsEqual(right.text.utf8)
    }

    static func < (left: SourceName, right: SourceName) -> Bool {
        left.text.utf8.lexicographicallyPrecedes(right.text.utf8)
    }

    func hash(into hasher: inout Hasher) {
        var text = text
        text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
    }
}
