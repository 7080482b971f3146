/// The bounds of the format, checked before anything is allocated.
public enum ItemLimits {
    /// Bytes of content in every chunk but the last.
    public static let chunkLength = 1 << 20
    /// The longest footer, in bytes. A chunk takes 12 of them.
    public static let footerLength = 1 << 20
    /// The longest content, in bytes: 64 GiB, whose chunk table takes three quarters of a footer.
    public static let contentLength: Int64 = 64 << 30
    /// The longest source, in bytes of UTF-8.
    public static let sourceLength = 1024
    /// The longest entity tag or date of a validator, in bytes of UTF-8.
    public static let validatorLength = 4096
    /// The most that a caller may attach to an item, in bytes.
    public static let attributesLength = 1 << 16

    /// The longest content of an identity item, in bytes, that is read and verified by every promotion; see
    /// ``ItemFooter/recordsBoot(_:contentLength:)``.
    package static let alwaysVerifiedLength: Int64 = 4 << 20

    /// The most content that `storedLength` bytes of LZ4 can hold: it expands at most 255 times.
    static func contentLength(storedLength: Int64) -> Int64 {
        guard storedLength < contentLength else { return contentLength }
        return min(storedLength * 255 + (64 << 10), contentLength)
    }
}
