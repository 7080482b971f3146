/// How the content of an item is laid out in its file. Raw values are stored and never change meaning.
public enum ItemEncoding: UInt8, Hashable, Sendable, CaseIterable {
    /// One standard LZ4 frame per chunk.
    case lz4 = 1
    /// The original bytes, so that promotion needs no copy.
    case identity = 2

    /// The name of the encoding in reports: `lz4` or `identity`.
    public var name: String {
        switch self {
        case .lz4: "lz4"
        case .identity: "identity"
        }
    }
}

/// How the encoding of an item is chosen.
public enum EncodingChoice: Hashable, Sendable {
    /// Try LZ4 on the first chunk and keep it when it saves at least one eighth, the rule that ZFS
    /// applies to its blocks; otherwise store the content as it is.
    case automatic
    /// Use this encoding without trying.
    case forced(ItemEncoding)

    /// Whether `stored` instead of `content` bytes saves enough to be worth decoding later.
    static func isWorthwhile(stored: Int, content: Int) -> Bool {
        stored <= content - content / 8
    }
}
