internal import PrefetchFileSystem
internal import SystemPackage

/// The content of `user-dirs.dirs`, where xdg-user-dirs stores the user's choice of folders.
///
/// Invalid lines are ignored. If a key occurs more than once, the last line wins.
struct UserDirectories: Hashable {
    private let locations: [String: Location]

    /// Parses the lines of a file, which need not be UTF-8.
    ///
    /// - Complexity: O(*n*) in the number of bytes.
    init(parsing bytes: [UInt8]) {
        let lines = bytes.split(separator: UInt8(ascii: "\n")).compactMap(Self.parse)
        locations = Dictionary(lines.map { ($0.key, $0.location) }) { _, last in last }
    }

    /// The folder for a key such as `XDG_DOCUMENTS_DIR`, or `nil` if there is none, or if it is relative to an unknown
    /// home folder.
    func path(of key: String, home: FilePath?) -> FilePath? {
        switch locations[key] {
        case .absolute(let path): path
        case .inHome(let path): home?.appending(path.components)
        case nil: nil
        }
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

extension UserDirectories {
    private enum Location: Hashable {
        case absolute(FilePath)
        case inHome(FilePath)
    }

    /// Parses a line without its newline: `XDG_xxx_DIR="$HOME/yyy"` or `XDG_xxx_DIR="/yyy"`, where a backslash in `yyy`
    /// escapes the next byte. Returns `nil` for an invalid line.
    ///
    /// The file looks like shell code, but is not executed: expansions other than the leading `$HOME`, and text other
    /// than a comment after the closing quote, are invalid.
    private static func parse(_ line: ArraySlice<UInt8>) -> (key: String, location: Location)? {
        // NUL would silently truncate the path.
        guard !line.contains(0) else { return nil }
        var rest = line
        guard let key = takeKey(&rest), let location = takeLocation(&rest), isBlankOrComment(rest) else {
            return nil
        }
        return (key, location)
    }

    /// Consumes `XDG_xxx_DIR=` and surrounding blanks, which other readers also tolerate.
    private static func takeKey(_ rest: inout ArraySlice<UInt8>) -> String? {
        rest = rest.drop(while: isBlank)
        let key = String(decoding: rest.prefix(while: isKeyByte), as: UTF8.self)
        guard key.hasPrefix("XDG_"), key.hasSuffix("_DIR"), key.utf8.count > "XDG__DIR".utf8.count
        else { return nil }
        rest = rest.dropFirst(key.utf8.count).drop(while: isBlank)
        guard rest.popFirst() == UInt8(ascii: "=") else { return nil }
        rest = rest.drop(while: isBlank)
        return key
    }

    private static func takeLocation(_ rest: inout ArraySlice<UInt8>) -> Location? {
        guard rest.popFirst() == UInt8(ascii: "\"") else { return nil }
        let isInHome = rest.starts(with: "$HOME".utf8)
        if isInHome { rest = rest.dropFirst("$HOME".utf8.count) }
        guard let bytes = takeQuoted(&rest), bytes.first == UInt8(ascii: "/") || isInHome && bytes.isEmpty
        else { return nil }
        let path = FilePath(bytes: bytes)
        return isInHome ? .inHome(path) : .absolute(path)
    }

    /// Consumes the rest of a quoted value and its closing quote, and decodes escapes.
    private static func takeQuoted(_ rest: inout ArraySlice<UInt8>) -> [UInt8]? {
        var value: [UInt8] = []
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "\""): return value
            case UInt8(ascii: "$"), UInt8(ascii: "`"): return nil
            case UInt8(ascii: "\\"):
                guard let escaped = rest.popFirst() else { return nil }
                value.append(escaped)
            default: value.append(byte)
            }
        }
        return nil
    }

    private static func isBlankOrComment(_ rest: ArraySlice<UInt8>) -> Bool {
        let text = rest.drop(while: isBlank)
        return text.isEmpty || (text.first == UInt8(ascii: "#") && text.count < rest.count)
    }

    private static func isBlank(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") || byte == UInt8(ascii: "\r")
    }

    private static func isKeyByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
            UInt8(ascii: "_"):
            true
        default: false
        }
    }
}
