import Foundation

/// All that is below a folder: names, contents, permissions and times of change.
struct Photograph: Equatable {
    private struct Entry: Equatable {
        let content: Data?
        let modified: Date?
        let permissions: Int?
    }

    private let entries: [String: Entry]

    init(of root: URL) throws {
        var entries: [String: Entry] = [:]
        for path in try FileManager.default.subpathsOfDirectory(atPath: root.path) + [""] {
            let file = root.appending(path: path)
            let attributes = try FileManager.default.attributesOfItem(atPath: file.path)
            let isRegular = attributes[.type] as? FileAttributeType == .typeRegular
            entries[path] = Entry(
                content: isRegular ? try Data(contentsOf: file) : nil,
                modified: attributes[.modificationDate] as? Date,
                permissions: attributes[.posixPermissions] as? Int)
        }
        self.entries = entries
    }
}
