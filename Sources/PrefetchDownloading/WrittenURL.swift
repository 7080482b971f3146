public import Foundation
public import PrefetchCaching

extension URL {
    /// Creates a URL from text as feeds, links and people write it, without changing what may stand in a request.
    ///
    /// Of the path and the query, only bytes that must not be sent are encoded: spaces, quotes, brackets, what is not ASCII, and a
    /// `%` that begins no code. `URL(string:)` encodes the `%` of every code as well as soon as there is one such byte, so that
    /// `/My%20Show%20[Ep%201].mp3` would ask for `/My%2520Show%2520%5BEp%25201%5D.mp3`.
    ///
    /// - Parameters:
    ///   - text: An absolute URL or, with `base`, a reference such as that of a `Location` header.
    ///   - base: The URL that a reference is relative to.
    /// - Returns: `nil` for what is no URL, and for one with a control character.
    public init?(asWritten text: String, relativeTo base: URL? = nil) {
        let bytes = Array(text.utf8)
        guard !bytes.contains(where: { $0 < 0x20 || $0 == 0x7F }) else { return nil }
        var encoded: [UInt8] = []
        encoded.reserveCapacity(bytes.count + 32)
        let authority = Self.authority(in: bytes)
        // The text of a fragment is not sent.
        let fragment = bytes[authority.upperBound...].firstIndex(of: UInt8(ascii: "#")) ?? bytes.endIndex
        for (index, byte) in bytes.enumerated() {
            let isKept =
                authority.contains(index)
                || (byte == UInt8(ascii: "%") ? Self.beginsCode(bytes[index...]) : Self.isSent[Int(byte)])
                || index == fragment
            if isKept { encoded.append(byte) } else { encoded += Self.code(of: byte).utf8 }
        }
        guard
            let url = URL(string: String(decoding: encoded, as: UTF8.self), relativeTo: base)?.absoluteURL,
            // Again, as it gives the name of the host as it was written otherwise.
            let plain = URL(string: url.absoluteString)
        else { return nil }
        self = plain
    }

    /// The code of a byte in a URL.
    static func code(of byte: UInt8) -> String {
        let digits = String(byte, radix: 16, uppercase: true)
        return byte < 16 ? "%0\(digits)" : "%\(digits)"
    }

    /// The host, whose name `URL` encodes, and after the last `@` of a user and a password, which are encoded as the rest is.
    private static func authority(in bytes: [UInt8]) -> Range<Int> {
        let ends = [UInt8(ascii: "/"), UInt8(ascii: "?"), UInt8(ascii: "#")]
        var start = bytes.startIndex
        if let colon = bytes.firstIndex(of: UInt8(ascii: ":")),
            !bytes[..<colon].contains(where: ends.contains)
        {
            start = colon + 1
        }
        guard bytes[start...].starts(with: "//".utf8) else { return start..<start }
        start += 2
        let end = bytes[start...].firstIndex(where: ends.contains) ?? bytes.endIndex
        let host = bytes[start..<end].lastIndex(of: UInt8(ascii: "@")).map { $0 + 1 } ?? start
        return host..<end
    }

    private static func beginsCode(_ bytes: ArraySlice<UInt8>) -> Bool {
        let digits = bytes.dropFirst().prefix(2)
        return digits.count == 2 && digits.allSatisfy { Character(Unicode.Scalar($0)).isHexDigit }
    }

    /// The bytes that may stand in the path and the query of a request (RFC 3986, section 3), a `%` aside.
    private static let isSent: [Bool] = {
        let marks = Set("-._~!$&'()*+,;=:@/?".utf8)
        return (UInt8.min...UInt8.max).map { byte in
            let character = Character(Unicode.Scalar(byte))
            return marks.contains(byte) || byte < 0x80 && (character.isLetter || character.isNumber)
        }
    }()
}

extension ItemKey {
    /// Creates the key of content that is known by its URL: that without user, password and fragment or, if it is longer than
    /// `maximumBytes`, `sha256:` and the hexadecimal digest of it.
    ///
    /// - Throws: `ItemKeyError` if nothing is left of the URL.
    public init(of url: URL) throws(ItemKeyError) {
        let text = url.withoutUserAndFragment.absoluteString
        guard text.utf8.count > Self.maximumBytes else {
            try self.init(text)
            return
        }
        try self.init("sha256:" + SHA256.digest(of: Data(text.utf8)).hexadecimal)
    }
}

extension URL {
    /// The last component of the path, encoded; `nil` if it has none.
    package var namedFile: String? { path(percentEncoded: true).split(separator: "/").last.map(String.init) }

    /// The URL without user, password and fragment: what is asked for, and safe to show.
    package var withoutUserAndFragment: URL {
        guard var parts = URLComponents(url: self, resolvingAgainstBaseURL: true) else { return self }
        guard parts.percentEncodedUser != nil || parts.percentEncodedPassword != nil || parts.fragment != nil
        else { return absoluteURL }
        (parts.percentEncodedUser, parts.percentEncodedPassword, parts.fragment) = (nil, nil, nil)
        return parts.url ?? self
    }
}
