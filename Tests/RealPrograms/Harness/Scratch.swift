internal import Foundation

/// A folder of its own for a run, gone afterwards.
func withScratchFolder<Result>(_ name: String, _ body: (URL) async throws -> Result) async throws -> Result {
    let folder = FileManager.default.temporaryDirectory.resolvingSymlinksInPath()
        .appending(path: "realprograms-\(name)-\(UUID().uuidString.prefix(8))", directoryHint: .isDirectory)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
    defer {
        do {
            try FileManager.default.removeItem(at: folder)
        } catch {
            print("left behind: \(folder.path) (\(error))")
        }
    }
    return try await body(folder)
}
