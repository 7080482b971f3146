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
    fileprivate var isASCIIAlphanumeric: Bool {
        switch self {
        case "a"..."z", "A"..."Z", "0"..."9": true
        default: false
        }
    }
}
