import Foundation

/// Files that nobody of the cache has made, where it works: under names that items want, and beside its own folders.
struct Sentinels: Sendable {
    private let files: [ForeignFile]

    /// - Parameter names: Those that items will want in Documents.
    init(in container: TemporaryContainer, named names: [String]) throws {
        let support = container.support.deletingLastPathComponent()
        let files =
            (names + ["letter.txt"]).map(container.document) + [
                support.appending(path: "database.sqlite"), container.root.appending(path: "notes.txt"),
            ]
        self.files = try files.map { file in
            try file.place("the user's, in \(file.lastPathComponent)")
            return try ForeignFile(file)
        }
    }

    /// Those that are gone, or another file, or were written to.
    ///
    /// - Parameter isExempt: Whether somebody else has had to do with a file.
    func touched(except isExempt: (URL) -> Bool = { _ in false }) throws -> [String] {
        try files.filter { try !isExempt($0.url) && !$0.isUntouched }.map(\.url.path).sorted()
    }
}
