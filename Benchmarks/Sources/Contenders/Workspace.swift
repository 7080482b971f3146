public import Foundation

/// A new folder on a real volume that everything is measured in, removed as a whole at the end.
///
/// Where files were deleted a moment ago, new ones can be slow to make: ext4 without a journal lets
/// a freed inode rest for minutes and searches past it, which was seen to make creation ten times as
/// slow and to hide every difference between contenders. So nothing is removed while measuring, and
/// what belongs together gets a folder that ext4 puts in a part of the volume of its own. Files that
/// are done with are emptied instead, so that the kernel can use their pages again: on a virtual
/// machine, pages that were never used before are slow too.
public struct Workspace: Sendable {
    private let root: URL

    /// Makes the folder inside `parent`, or beside the program when that is `nil`.
    public init(in parent: String? = nil) throws {
        let program = Bundle.main.executableURL ?? URL(filePath: CommandLine.arguments[0])
        let parent = parent.map { URL(filePath: $0) } ?? program.deletingLastPathComponent()
        let resolved = parent.resolvingSymlinksInPath()
        guard !resolved.path(percentEncoded: false).hasPrefix("/dev/shm") else {
            throw ContenderError(
                "cannot measure in /dev/shm: files in memory say nothing about files on a volume")
        }
        root = resolved.appending(path: "measuring-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: root, withIntermediateDirectories: false)
        // Not every file system can; then there is nothing to work around either.
        _ = Self.output(of: "chattr", "+T", root.path(percentEncoded: false))
    }

    /// Makes one for `body`, and removes it whatever happens. Says on standard error which file system is measured on: figures
    /// of different ones are not comparable.
    public static func with<Result>(
        in parent: String?, _ body: (Workspace) async throws -> Result
    ) async throws -> Result {
        let workspace = try Workspace(in: parent)
        FileHandle.standardError.write(Data("measuring on \(workspace.fileSystem)\n".utf8))
        return try await finally({ try workspace.remove() }) { try await body(workspace) }
    }

    /// As the kernel describes it.
    private var fileSystem: String {
        let path = root.path(percentEncoded: false)
        let mount = Self.output(of: "findmnt", "--noheadings", "--output", "FSTYPE,SOURCE", "--target", path)
        let fields = mount.split(whereSeparator: \.isWhitespace)
        guard fields.count > 1 else { return "a file system that is not known" }
        guard fields[0] == "ext4" else { return fields.joined(separator: " on ") }
        // A journal that is in use has a folder of statistics, named after its device.
        let device = URL(filePath: String(fields[1])).resolvingSymlinksInPath().lastPathComponent
        if Self.output(of: "ls", "/proc/fs/jbd2").contains("\(device)-") { return "ext4 with a journal" }
        return """
            ext4 without a journal: where files were deleted, new ones are slow to make for minutes; \
            Benchmarks/journalled measures on one with a journal
            """
    }

    /// Nothing where there is no such command, or it fails.
    private static func output(of command: String...) -> String {
        let process = Process()
        let output = Pipe()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = command
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        do {
            try process.run()
            return String(decoding: try output.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
        } catch {
            return ""
        }
    }

    /// A new folder, in a part of the volume of its own where there is a choice.
    public func makeFolder() throws -> URL {
        // ext4 chooses the part by the name.
        let folder = root.appending(path: UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
        return folder
    }

    /// Cuts the files beneath a folder to length 0.
    public func empty(_ folder: URL) {
        let path = folder.path(percentEncoded: false)
        guard let names = FileManager.default.enumerator(atPath: path) else { return }
        for case let name as String in names {
            // Folders and links refuse, and what else refuses is not worth stopping for.
            let file = open("\(path)/\(name)", O_WRONLY | O_TRUNC | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
            if file >= 0 { close(file) }
        }
    }

    /// Removes everything, several folders at a time: where a volume discards what is freed at once, that
    /// is waiting for the device thousands of times.
    public func remove() throws {
        let removal = OperationQueue()
        removal.maxConcurrentOperationCount = 16
        for folder in try FileManager.default.contentsOfDirectory(at: root, includingPropertiesForKeys: nil) {
            // What cannot be removed is found again, and reported, below.
            removal.addOperation { try? FileManager.default.removeItem(at: folder) }
        }
        removal.waitUntilAllOperationsAreFinished()
        try FileManager.default.removeItem(at: root)
    }
}
