internal import PrefetchFileSystem
internal import SystemPackage

/// The content of `user-dirs.dirs`, where xdg-user-dirs stores the user's choice of folders.
///
/// Invalid lines are ignored. If a key occurs more than once, the last line wins.
struct UserDirectories: Hashable {
    private struct Location: Hashable {
        let isInHome: Bool
        let path: FilePath
    }

    private var locations: [String: Location] = [:]

    /// Parses the lines of a file, which need not be UTF-8: `XDG_xxx_DIR="$HOME/yyy"` or `XDG_xxx_DIR="/yyy"`, where a
    /// backslash in `yyy` escapes the next byte. Other readers, too, tolerate blanks, and a comment at the end.
    ///
    /// The file looks like shell code, but is not executed: expansions other than the leading `$HOME` are invalid.
    ///
    /// - Complexity: O(*n*) in the number of bytes.
    init(parsing bytes: [UInt8]) {
        // Each byte is a scalar, and none ends a line.
        let pattern =
            /(?s)[ \t\r]*(XDG_[A-Z0-9_]+_DIR)[ \t\r]*=[ \t\r]*"(\$HOME)?((?:[^"$`\\]|\\.)*+)"(?:[ \t\r]+\#.*|[ \t\r]*)/
            .matchingSemantics(.unicodeScalar)
        // NUL would silently truncate the path.
        for line in bytes.split(separator: UInt8(ascii: "\n")) where !line.contains(0) {
            let text = String(String.UnicodeScalarView(line.map { Unicode.Scalar($0) }))
            guard let (_, key, home, quoted) = text.wholeMatch(of: pattern)?.output else { continue }
            var path: [UInt8] = []
            var rest = quoted.unicodeScalars
            while let scalar = rest.popFirst() {
                let plain = scalar == "\\" ? rest.popFirst() : scalar
                if let plain { path.append(UInt8(truncatingIfNeeded: plain.value)) }
            }
            guard path.first == UInt8(ascii: "/") || home != nil && path.isEmpty else { continue }
            locations[String(key)] = Location(isInHome: home != nil, path: FilePath(bytes: path))
        }
    }

    /// The folder for a key such as `XDG_DOCUMENTS_DIR`, or `nil` if there is none, or if it is relative to an unknown
    /// home folder.
    func path(of key: String, home: FilePath?) -> FilePath? {
        guard let location = locations[key] else { return nil }
        return location.isInHome ? home?.appending(location.path.components) : location.path
    }
}

extension UserDirectories {
    /// The longest file that is read, in bytes; a typical one has about 600.
    static let lengthLimit = 65536

    /// Reads `user-dirs.dirs` in a configuration folder. A missing file counts as empty.
    ///
    /// Follows symbolic links, since users may link to configuration files in a repository.
    ///
    /// - Throws: ``StorageAreasError/userDirectoriesUnreadable(_:)``, with `EFBIG` if the file is longer than
    ///   ``lengthLimit``.
    init(in configuration: FilePath, of fileSystem: any FileSystem) throws(StorageAreasError) {
        let path = configuration.appending("user-dirs.dirs")
        do throws(FileSystemError) {
            // Reading one extra byte detects a file that is too long, without relying on its `stat` length.
            let bytes = try fileSystem.withFile(path, in: .workingDirectory, .readFollowingLinks) {
                file throws(FileSystemError) in
                try fileSystem.bytes(of: file, count: Self.lengthLimit + 1)
            }
            guard bytes.count <= Self.lengthLimit else {
                throw FileSystemError("read", path: path, errno: .fileTooLarge)
            }
            self.init(parsing: bytes)
        } catch {
            // ENOTDIR: the configuration folder is a file, so `user-dirs.dirs` does not exist either.
            guard error.isNotFound || error.errno == .notDirectory else {
                throw .userDirectoriesUnreadable(error.naming(path))
            }
            self.init(parsing: [])
        }
    }
}
