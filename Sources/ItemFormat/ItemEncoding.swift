/// How the content of an item lies in its file. The raw value is stored; it never changes meaning.
public enum ItemEncoding: UInt8, Hashable, Sendable, CaseIterable {
    /// One standard LZ4 frame per chunk.
    case lz4 = 1
    /// The bytes as they are, so that promotion needs no copy.
    case identity = 2

    public var name: String {
        switch self {
        case .lz4: "lz4"
        case .identity: "identity"
        }
    }
}

/// Who decides the encoding of an item.
public enum EncodingChoice: Hashable, Sendable {
    /// The first chunk is compressed for trial: LZ4 is kept when it saves at least one eighth, the
    /// rule that ZFS applies to its blocks; otherwise the content is stored as it is.
    case automatic
    /// The caller knows.
    case forced(ItemEncoding)

    /// Whether `stored` bytes for `content` bytes are saving enough to be worth decoding later.
    static func isWorthwhile(stored: Int, content: Int) -> Bool {
        stored <= content - content / 8
    }
}
