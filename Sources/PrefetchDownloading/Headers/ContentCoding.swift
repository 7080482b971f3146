internal import Foundation

/// How a server encoded content for its transfer (RFC 9110, section 8.4.1).
enum ContentCoding {
    /// What to offer to servers, and to undo.
    static let offer = "gzip"

    fileprivate static func isGzip(_ name: String) -> Bool {
        ["gzip", "x-gzip"].contains(name.lowercased())
    }

    /// Whether it changes bytes. What servers name beside these (`UTF-8`, `aws-chunked`, `binary`, `none` …) changes none.
    fileprivate static func isOne(_ name: String) -> Bool {
        isGzip(name) || others.contains(name.lowercased())
    }

    private static let others: Set = [
        "deflate", "br", "zstd", "compress", "x-compress", "bzip2", "x-bzip2", "xz", "dcb", "dcz", "exi",
        "pack200-gzip", "aes128gcm",
    ]
}

/// What is known of a body besides what its head says.
struct BodyContext: Sendable {
    /// The names of the content: of the URLs, of its file.
    var names: [String] = []
    /// Whether the digest has shown that the body is meant the other way: encoded rather than as it is, or the reverse.
    var isMeantOtherwise = false
}

extension ResponseHead {
    /// The codings that change the bytes of the body, as the head names them; `nil` if there is none. Nobody offers a
    /// transfer coding but that of chunks.
    var encoding: String? {
        transferCoding ?? (contentCodings.isEmpty ? nil : contentCodings.joined(separator: ", "))
    }

    private var transferCoding: String? {
        self["transfer-encoding"].map(\.trimmed).flatMap {
            ["", "identity", "chunked"].contains($0.lowercased()) ? nil : $0
        }
    }

    private var contentCodings: [String] {
        (self["content-encoding"] ?? "").split(separator: ",").map(\.trimmed).filter(ContentCoding.isOne)
    }

    /// Whether the body can be decoded: `gzip` is its one coding.
    var isGzip: Bool { contentCodings.count == 1 && ContentCoding.isGzip(contentCodings[0]) }

    /// Whether the body is `gzip` that is to be undone before it is stored; otherwise it is stored as it is sent.
    ///
    /// It is undone even if it was not offered: servers send what they keep in it to everyone. An archive is stored as it is
    /// sent if the coding may be its own: Apache declares `.tar.gz` so, and browsers, curl and wget keep the archive.
    ///
    /// - Throws: ``DownloadError/Reason/encoded(_:)`` if there are several codings that would have to be undone, or a transfer
    ///   coding.
    func isToBeDecoded(_ context: BodyContext) throws(DownloadError.Reason) -> Bool {
        if let transferCoding { throw .encoded(transferCoding) }
        let codings = contentCodings
        // The system undoes what it knows.
        if isDecoded, let encoding, !codings.allSatisfy(ContentCoding.isGzip) { throw .encoded(encoding) }
        guard !codings.isEmpty, codings.allSatisfy(ContentCoding.isGzip) else { return false }
        guard codings.count == 1 else { throw .encoded(codings.joined(separator: ", ")) }
        return isDecoded || isCompressedArchive(named: context.names) == context.isMeantOtherwise
    }

    /// What the names and the type of the content say.
    private func isCompressedArchive(named names: [String]) -> Bool {
        let declared = (self["content-disposition"] ?? "").split(separator: ";").map {
            $0.trimmed.trimmingCharacters(in: ["\""])
        }
        return Archive.compressedTypes.contains(mediaType)
            || (names + declared).contains { Archive.compressed.contains(Archive.end(of: $0)) }
    }
}

/// Files that are archives by their name or their type.
enum Archive {
    /// Whether text ends with the name of an archive.
    static func isOne(_ text: String) -> Bool {
        let end = end(of: text)
        return compressed.contains(end) || others.contains(end)
    }

    fileprivate static func end(of name: String) -> String {
        name.lastIndex(of: ".").map { name[name.index(after: $0)...].lowercased() } ?? ""
    }

    /// In the format that is also the coding `gzip`, or such that servers mean that by its type.
    fileprivate static let compressed: Set = [
        "gz", "tgz", "taz", "z", "svgz", "cpgz", "crate", "unitypackage",
    ]
    private static let others: Set = [
        "tar", "zip", "7z", "rar", "bz2", "tbz", "tbz2", "xz", "txz", "zst", "tzst", "br", "lz", "tlz", "lz4",
        "lzma", "cab", "iso", "dmg", "deb", "rpm", "jar", "apk", "ipa", "cpio",
    ]
    fileprivate static let compressedTypes: Set = [
        "application/gzip", "application/x-gzip", "application/x-gunzip", "application/gzipped",
        "application/x-tgz", "application/tar+gzip", "application/x-compressed-tar", "application/x-tar",
        "application/tar", "application/x-gtar", "application/x-compressed", "application/x-compress",
    ]
}
