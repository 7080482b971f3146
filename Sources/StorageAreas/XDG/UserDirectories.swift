internal import SystemPackage

/// The content of `user-dirs.dirs`, in which xdg-user-dirs keeps the user's choice of folders.
///
/// Lines in any other format are skipped; of several for one key, the last wins.
struct UserDirectories: Hashable {
    private let locations: [String: UserDirectoryLine.Location]

    /// Parses the lines of a file. Any bytes are accepted: names need not be UTF-8.
    ///
    /// - Complexity: O(*n*) in the number of bytes.
    init(parsing bytes: [UInt8]) {
        let lines = bytes.split(separator: UInt8(ascii: "\n")).compactMap(UserDirectoryLine.init)
        locations = Dictionary(lines.map { ($0.key, $0.location) }) { _, last in last }
    }

    /// The folder for a key such as `XDG_DOCUMENTS_DIR`, or `nil` when no line names it, or when it
    /// is relative to an unknown home folder.
    func path(of key: String, home: FilePath?) -> FilePath? {
        switch locations[key] {
        case .absolute(let path): path
        case .inHome(let path): home?.appending(path.components)
        case nil: nil
        }
    }
}
