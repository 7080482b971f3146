import Foundation

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// Files that nobody of the cache has made, where it works: under names that items want, and beside its own folders.
struct Sentinels: Sendable {
    private let pictures: [URL: String]

    /// - Parameter names: Those that items will want in Documents.
    init(in container: TemporaryContainer, named names: [String]) throws {
        let support = container.support.deletingLastPathComponent()
        let files =
            (names + ["letter.txt"]).map { container.documents.appending(path: $0) } + [
                support.appending(path: "database.sqlite"), container.root.appending(path: "notes.txt"),
            ]
        for file in files {
            try FileManager.default.createDirectory(
                at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
            try Data("the user's, in \(file.lastPathComponent)".utf8).write(to: file)
        }
        pictures = Dictionary(uniqueKeysWithValues: files.map { ($0, Self.picture(of: $0)) })
    }

    /// Those that are gone, or another file, or were written to.
    ///
    /// - Parameter isExempt: Whether somebody else has had to do with a file.
    func touched(except isExempt: (URL) -> Bool = { _ in false }) -> [String] {
        pictures.filter { !isExempt($0.key) && Self.picture(of: $0.key) != $0.value }.map(\.key.path).sorted()
    }

    private static func picture(of file: URL) -> String {
        var status = stat()
        guard lstat(file.path, &status) == 0 else { return "errno \(errno)" }
        #if canImport(Darwin)
            let time = status.st_mtimespec
        #else
            let time = status.st_mtim
        #endif
        let content = FileManager.default.contents(atPath: file.path).map { $0.base64EncodedString() }
        return
            "\(status.st_ino), \(status.st_mode), \(time.tv_sec).\(time.tv_nsec), \(content ?? "unreadable")"
    }
}
