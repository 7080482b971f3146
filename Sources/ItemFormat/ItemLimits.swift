/// The bounds of the format, checked before anything is allocated.
public enum ItemLimits {
    /// Bytes of content in every chunk but the last: 1 MiB.
    public static let chunkLength = 1 << 20
    /// The longest footer, in bytes: 1 MiB. Each chunk takes 12 of them.
    public static let footerLength = 1 << 20
    /// The longest content, in bytes: 64 GiB, whose chunk table takes three quarters of the longest footer.
    public static let contentLength: Int64 = 64 << 30
    /// The longest source, in bytes of UTF-8.
    public static let sourceLength = 1024
    /// The longest entity tag or date of a validator, in bytes of UTF-8.
    public static let validatorLength = 4096
    /// The longest attributes that a caller may attach to an item, in bytes: 64 KiB.
    public static let attributesLength = 1 << 16

    /// The longest content of an identity item, in bytes, that every promotion verifies: 4 MiB; see
    /// ``ItemFooter/recordsBoot(_:contentLength:)``.
    package static let alwaysVerifiedLength: Int64 = 4 << 20

    /// The longest content that `storedLength` bytes of LZ4 can hold: it expands at most 255 times.
    static func contentLength(storedLength: Int64) -> Int64 {
        guard storedLength < contentLength else { return contentLength }
        return min(storedLength * 255 + (64 << 10), contentLength)
    }
}
