/// The `ETag` header (RFC 9110, section 8.8.3).
struct EntityTag: Hashable, Sendable {
    /// The tag as received, with its quotes and, when weak, its prefix.
    let text: String

    /// Whether equal tags mean equal bytes. Only then may it be used to resume a download.
    var isStrong: Bool { !text.hasPrefix("W/") }

    /// Returns `nil` for anything but a valid entity tag: it is repeated in the headers of later requests.
    init?(_ text: String) {
        let text = String(text.trimmed)
        let opaque = text.hasPrefix("W/") ? text.dropFirst(2) : text[...]
        guard opaque.utf8.count >= 2, opaque.hasPrefix("\""), opaque.hasSuffix("\""),
            opaque.dropFirst().dropLast().utf8.allSatisfy(Self.isAllowed)
        else { return nil }
        self.text = text
    }

    private static func isAllowed(_ byte: UInt8) -> Bool {
        byte == 0x21 || (0x23...0x7E).contains(byte) || byte >= 0x80
    }
}
