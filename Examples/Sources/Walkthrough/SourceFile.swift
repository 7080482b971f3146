import Foundation
import PrefetchCaching

/// A file of this checkout, which stands for something on a server that the user will probably want.
struct SourceFile {
    let content: Data
    /// What the cache has to know about the content, including where it goes when the user opens it: an item carries
    /// everything that is needed to hand it over.
    let metadata: ItemMetadata

    var key: ItemKey { metadata.key }

    /// The sources of the package, from 4 KiB on, in the order of their paths.
    static func all() throws -> [SourceFile] {
        let sources = URL(filePath: #filePath).appending(path: "../../../../Sources").standardized
        let paths = try FileManager.default.subpathsOfDirectory(atPath: sources.path).sorted()
        return try paths.enumerated().compactMap { index, path in
            let file = sources.appending(path: path)
            let values = try file.resourceValues(forKeys: [.isRegularFileKey, .fileSizeKey])
            guard values.isRegularFile == true, let length = values.fileSize, length >= 4096 else {
                return nil
            }
            // A name that comes from elsewhere need not be valid here, so it is sanitised.
            let name = FileName(sanitizing: file.lastPathComponent)
            return SourceFile(
                content: try Data(contentsOf: file),
                metadata: ItemMetadata(
                    // The permanent name of the item. An app takes the one that its server uses.
                    key: try ItemKey(path),
                    // Where it came from, by which statistics are grouped: here the module.
                    source: path.split(separator: "/").first.map(String.init) ?? "",
                    // The user meets files in Documents. Application Support has those that the app keeps to itself.
                    destination: index.isMultiple(of: 2) ? .documents(name) : .applicationSupport(name)))
        }
    }
}
