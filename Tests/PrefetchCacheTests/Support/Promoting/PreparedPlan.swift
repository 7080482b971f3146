import Foundation
import PrefetchFileSystem
import SystemPackage

@testable import PrefetchCaching

/// A plan, and a container that is filled for it, to be copied for every run: that takes a fraction of the
/// time.
final class PreparedPlan: Sendable {
    /// The key that was opened before.
    private static let earlier = ItemKey("earlier")

    let plan: PromotionPlan
    private let template: TemporaryContainer

    init(_ plan: PromotionPlan) throws {
        self.plan = plan
        template = try TemporaryContainer(in: .fastTemporaryFolder)
        let engine = try template.engine()
        if !plan.isFirst {
            try engine.store(prose(900), Self.earlier, to: .applicationSupport)
            _ = try engine.open(Self.earlier)
        }
        for item in plan.items {
            if let content = item.foreignContent { try template.destination(of: item).place(content) }
            if item.isDelivered { try writeSource(of: item) }
            if let encoding = item.cached {
                try engine.store(
                    item.content, item.key, to: item.area, encoding: .forced(encoding), parts: item.parts)
            }
        }
        try engine.close()
        if !plan.isFirst {
            try template.destinations(in: .applicationSupport).appending(path: "earlier").remove()
        }
    }

    private func writeSource(of item: PlannedItem) throws {
        let source = template.source(of: item)
        guard item.isBundle else { return try source.place(item.content) }
        var rest = item.content[...]
        for part in item.parts {
            let length = Int(part.contentBytes)
            try source.appending(path: part.path.string).place(Data(rest.prefix(length)))
            rest = rest.dropFirst(length)
        }
    }

    /// Fills a container.
    ///
    /// - Parameter flush: Called when everything is there but the cached items.
    /// - Returns: The files in it that are not the cache's.
    func fill(_ container: TemporaryContainer, flush: () throws -> Void = {}) throws -> [ForeignFile] {
        let paths = try FileManager.default.subpathsOfDirectory(atPath: template.root.path).sorted()
        try copy(paths.filter { !isItem($0) }, to: container)
        let foreign = try plan.items.filter { $0.foreignContent != nil }
            .map { try ForeignFile(container.destination(of: $0)) }
        try flush()
        try copy(paths.filter(isItem), to: container)
        return foreign
    }

    /// Without a flush, which Foundation may make.
    private func write(_ bytes: [UInt8], toNewFile file: URL) throws {
        let live = LiveFileSystem()
        try live.withFile(FilePath(file.path), in: .workingDirectory, .createNew(.ownerReadWrite)) {
            file throws(FileSystemError) in
            try live.writeAll(bytes, to: file, at: 0)
        }
    }

    private func isItem(_ path: String) -> Bool { path.contains("/items/") }

    private func copy(_ paths: [String], to container: TemporaryContainer) throws {
        for path in paths {
            let source = template.root.appending(path: path)
            let copy = container.root.appending(path: path)
            if try source.resourceValues(forKeys: [.isDirectoryKey]).isDirectory == true {
                try copy.makeFolder()
            } else {
                try write(try [UInt8](Data(contentsOf: source)), toNewFile: copy)
            }
        }
    }
}

extension URL {
    /// A folder in memory where there is one.
    static var fastTemporaryFolder: URL {
        let memory = "/dev/shm"
        return FileManager.default.isWritableFile(atPath: memory)
            ? URL(filePath: memory, directoryHint: .isDirectory) : FileManager.default.temporaryDirectory
    }
}

/// A file that the cache has not made, as it was.
struct ForeignFile: Sendable {
    let url: URL
    private let content: Data?
    private let attributes: FileAttributes?

    init(_ url: URL) throws {
        self.url = url
        content = FileManager.default.contents(atPath: url.path)
        attributes = try url.attributes
    }

    /// Whether it is the same file with the same bytes.
    var isUntouched: Bool {
        get throws {
            let now = try url.attributes
            return now?.identity == attributes?.identity && now?.modified == attributes?.modified
                && now?.permissions == attributes?.permissions
                && FileManager.default.contents(atPath: url.path) == content
        }
    }
}
