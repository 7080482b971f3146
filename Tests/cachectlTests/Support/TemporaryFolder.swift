import Foundation

/// A folder that lives as long as this object, and so as the suite's instance for one test.
final class TemporaryFolder: Sendable {
    let url: URL

    init() throws {
        url = FileManager.default.temporaryDirectory
            .appending(path: "cachectlTests-\(UUID().uuidString)", directoryHint: .isDirectory)
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: false)
    }

    deinit {
        do {
            try FileManager.default.removeItem(at: url)
        } catch {
            print("left behind: \(url.path) (\(error))")
        }
    }

    func file(_ name: String) -> URL { url.appending(path: name, directoryHint: .notDirectory) }

    @discardableResult
    func write(_ content: Data, to name: String) throws -> URL {
        let file = file(name)
        try content.write(to: file)
        return file
    }

    /// The regular files below the folder whose content is `content`.
    func files(with content: Data) throws -> [URL] {
        let keys: [URLResourceKey] = [.isRegularFileKey]
        guard let files = FileManager.default.enumerator(at: url, includingPropertiesForKeys: keys) else {
            return []
        }
        return try files.compactMap { $0 as? URL }.filter { file in
            try file.resourceValues(forKeys: [.isRegularFileKey]).isRegularFile == true
                && Data(contentsOf: file) == content
        }
    }
}
