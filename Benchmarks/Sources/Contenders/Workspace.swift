import CFloor
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

        let folder = open(root.path(percentEncoded: false), O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        if folder >= 0 {
            // Not every file system can; then there is nothing to work around either.
            _ = volume_spread_folders(folder)
            close(folder)
        }
    }

    /// Makes one for `body`, and removes it whatever happens.
    public static func with<Result>(
        in parent: String?, _ body: (Workspace) async throws -> Result
    ) async throws -> Result {
        let workspace = try Workspace(in: parent)
        let volume = Volume(of: workspace.root.path(percentEncoded: false))
        let ground = volume.map { "\($0)" } ?? "a file system that is not known"
        FileHandle.standardError.write(Data("measuring on \(ground)\n".utf8))
        let result: Result
        do {
            result = try await body(workspace)
        } catch {
            // The first error is the one to tell.
            do {
                try workspace.remove()
            } catch let second {
                FileHandle.standardError.write(Data("the measuring folder stays: \(second)\n".utf8))
            }
            throw error
        }
        try workspace.remove()
        return result
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

    /// Half a result would be of no use, and a cache on a volume that runs short refuses items: the space for everything has
    /// to be there at the start.
    ///
    /// - Throws: ``TooLittleSpace``, unless the volume does not say.
    public func demand(bytes: Int64, files: UInt64 = 0) throws {
        var volume = statvfs()
        guard statvfs(root.path(percentEncoded: false), &volume) == 0 else { return }
        let available = Int64(clamping: UInt64(volume.f_bavail) * UInt64(volume.f_frsize))
        guard available >= bytes else {
            throw TooLittleSpace(
                description:
                    "too little space: about \(bytes >> 20) MiB are needed, \(available >> 20) MiB are free")
        }
        // No number of files at all means that there is no limit.
        guard volume.f_files == 0 || UInt64(volume.f_favail) > files else {
            throw TooLittleSpace(
                description: "the volume takes \(volume.f_favail) more files, and this makes \(files)")
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

/// Said before anything was written.
public struct TooLittleSpace: Error, CustomStringConvertible {
    public let description: String
}

/// The file system that is measured on, as the kernel describes it: figures of different ones are not comparable.
struct Volume: CustomStringConvertible {
    private let type: String
    private let device: String
    /// `nil` for all but ext4, which may have been made without one.
    private let hasJournal: Bool?

    /// - Returns: `nil` where the kernel does not say, as on Darwin.
    init?(of folder: String) {
        var attributes = stat()
        // What cannot be read is not known, and no reason not to measure.
        guard stat(folder, &attributes) == 0,
            let mounts = try? String(contentsOfFile: "/proc/self/mountinfo", encoding: .utf8)
        else { return nil }
        let number = Self.number(of: UInt64(attributes.st_dev))
        // 36 35 98:0 / /mnt rw,noatime master:1 - ext4 /dev/vda rw
        let mount = mounts.split(separator: "\n").last { line in
            line.split(separator: " ").dropFirst(2).first.map(String.init) == number
        }
        guard let mount, let separator = mount.range(of: " - ") else { return nil }
        let fields = mount[separator.upperBound...].split(separator: " ")
        guard fields.count > 1 else { return nil }
        type = String(fields[0])
        device = String(fields[1])
        hasJournal = type == "ext4" ? Self.hasJournal(number) : nil
    }

    /// As in `mountinfo`: the major and the minor number, as `gnu_dev_makedev(3)` packs them.
    private static func number(of device: UInt64) -> String {
        let major = device >> 8 & 0xFFF | device >> 32 & ~0xFFF
        let minor = device & 0xFF | device >> 12 & ~0xFF
        return "\(major):\(minor)"
    }

    /// A journal that is in use has a folder of statistics, named after its device.
    private static func hasJournal(_ number: String) -> Bool? {
        let manager = FileManager.default
        // As above.
        guard let device = try? manager.destinationOfSymbolicLink(atPath: "/sys/dev/block/\(number)"),
            let journals = try? manager.contentsOfDirectory(atPath: "/proc/fs/jbd2")
        else { return nil }
        let name = URL(filePath: device).lastPathComponent
        return journals.contains { $0.hasPrefix("\(name)-") }
    }

    var description: String {
        switch hasJournal {
        case true?: "\(type) with a journal, on \(device)"
        case false?:
            """
            \(type) without a journal, on \(device): where files were deleted, new ones are slow to make for minutes; \
            Benchmarks/journalled measures on one with a journal
            """
        case nil: "\(type), on \(device)"
        }
    }
}
