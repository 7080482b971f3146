internal import Foundation

/// How a server encoded content for its transfer (RFC 9110, section 8.4.1).
enum ContentCoding: Sendable {
    case gzip
    case deflate

    /// What to offer to servers.
    static let offer = "gzip, deflate"

    /// Returns `nil` for all others, and for several in a row.
    init?(_ name: some StringProtocol) {
        switch name.lowercased() {
        case "gzip", "x-gzip": self = .gzip
        case "deflate": self = .deflate
        default: return nil
        }
    }

    /// The others that change bytes. What servers name beside these (`UTF-8`, `aws-chunked`, `binary`, `none` …) changes none.
    fileprivate static let others: Set = [
        "br", "zstd", "compress", "x-compress", "bzip2", "x-bzip2", "xz", "dcb", "dcz", "exi", "pack200-gzip",
        "aes128gcm",
    ]
}

/// What is known of a body besides what its head says.
struct BodyContext: Sendable {
    /// Whether the request offered to take an encoded body.
    var acceptsEncoded = false
    /// Whether an earlier one did, whose body could not be decoded or not be resumed.
    var hasOffered = false
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
        (self["content-encoding"] ?? "").split(separator: ",").map(\.trimmed).filter { name in
            ContentCoding(name) != nil || ContentCoding.others.contains(name.lowercased())
        }
    }

    /// The one coding of the body that can be decoded, if it has no other.
    var decodableCoding: ContentCoding? { contentCodings.count == 1 ? ContentCoding(contentCodings[0]) : nil }

    /// The coding that is to be undone before the body is stored; `nil` if it is stored as it is sent.
    ///
    /// It is stored as it is sent if its coding was not offered, but for `gzip`, in which servers send what they keep in it to
    /// everyone. An archive is also stored as it is sent if the coding may be its own: Apache declares `.tar.gz` so, and browsers,
    /// curl and wget keep the archive.
    ///
    /// - Throws: ``DownloadError/Reason/encoded(_:)`` if there are several that would have to be undone, or a transfer coding.
    func codingToUndo(_ context: BodyContext) throws(DownloadError.Reason) -> ContentCoding? {
        if let transferCoding { throw .encoded(transferCoding) }
        let codings = contentCodings
        guard let coding = codings.first.flatMap(ContentCoding.init) else {
            if isDecoded, let encoding { throw .encoded(encoding) }
            return nil
        }
        if codings.contains(where: { ContentCoding($0) == nil }) { return nil }
        guard codings.count == 1 else { throw .encoded(codings.joined(separator: ", ")) }
        // The system has undone it.
        if isDecoded { return coding }
        let archive = archive(named: context.names)
        let isAsSent =
            archive == .compressed
            || !context.acceptsEncoded && (archive == .other || coding == .deflate && !context.hasOffered)
        return isAsSent == context.isMeantOtherwise ? coding : nil
    }

    /// What the names and the type of the content say.
    private func archive(named names: [String]) -> Archive? {
        let type = self["content-type"]?.prefix { $0 != ";" }.trimmed.lowercased()
        let declared = self["content-disposition"]?.split(separator: ";").map {
            $0.trimmed.trimmingCharacters(in: ["\""])
        }
        let found = (names + (declared ?? [])).compactMap(Archive.init(name:))
        if found.contains(.compressed) || type.map(Archive.compressedTypes.contains) == true {
            return .compressed
        }
        return found.first ?? (type.map(Archive.otherTypes.contains) == true ? .other : nil)
    }
}

/// A file that is an archive by its name or its type.
enum Archive: Sendable {
    /// In the format that is also the coding `gzip`, or such that servers mean that by its type.
    case compressed
    case other

    /// - Parameter name: Text that ends with the name of the file.
    init?(name: String) {
        guard let dot = name.lastIndex(of: ".") else { return nil }
        let end = name[name.index(after: dot)...].lowercased()
        if Self.compressedNames.contains(end) {
            self = .compressed
        } else if Self.otherNames.contains(end) {
            self = .other
        } else {
            return nil
        }
    }

    private static let compressedNames: Set = [
        "gz", "tgz", "taz", "z", "svgz", "cpgz", "crate", "unitypackage",
    ]
    private static let otherNames: Set = [
        "tar", "zip", "7z", "rar", "bz2", "tbz", "tbz2", "xz", "txz", "zst", "tzst", "br", "lz", "tlz", "lz4",
        "lzma", "cab", "iso", "dmg", "deb", "rpm", "jar", "apk", "ipa", "cpio",
    ]
    fileprivate static let compressedTypes: Set = [
        "application/gzip", "application/x-gzip", "application/x-gunzip", "application/gzipped",
        "application/x-tgz", "application/tar+gzip", "application/x-compressed-tar", "application/x-tar",
        "application/tar", "application/x-gtar", "application/x-compressed", "application/x-compress",
    ]
    fileprivate static let otherTypes: Set = [
        "application/zip", "application/x-zip-compressed", "application/x-7z-compressed",
        "application/vnd.rar",
        "application/x-rar-compressed", "application/x-bzip", "application/x-bzip2", "application/x-xz",
        "application/zstd", "application/x-lzma", "application/java-archive", "application/x-cpio",
        "application/vnd.android.package-archive", "application/vnd.debian.binary-package",
        "application/x-apple-diskimage", "application/x-iso9660-image",
    ]
}
