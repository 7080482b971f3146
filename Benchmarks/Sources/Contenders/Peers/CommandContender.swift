import CFloor
import Foundation

/// What one would do in a shell with a large file: `lz4 -1`.
private final class CommandContender: Contender {
    private static let name = "temporary"

    private let workload: Workload
    private let items: OpenFolder
    private let incoming: OpenFolder
    private let promoted: PromotedFiles

    init(in directory: URL, for workload: Workload) throws {
        self.workload = workload
        items = try OpenFolder("items", in: directory)
        incoming = try OpenFolder("incoming", in: directory)
        promoted = try PromotedFiles(in: directory, for: workload)
    }

    func store(_ index: Int) throws {
        try run("lz4", "-q", "-1", workload.path, Self.path(incoming))
        guard renameat(incoming.descriptor, Self.name, items.descriptor, Self.name) == 0 else {
            throw FloorError(errno: errno)
        }
    }

    func read(_ index: Int) throws -> Int {
        try run("lz4", "-q", "-f", "-d", Self.path(items), "/dev/null")
        return workload.size
    }

    func promote(_ index: Int) throws {
        try run("lz4", "-q", "-f", "-d", Self.path(items), Self.path(promoted.staging))
        try check(
            floor_publish_file(
                promoted.staging.descriptor, Self.name, promoted.documents.descriptor, promoted.names[index]))
        try check(floor_unlink(items.descriptor, Self.name))
    }

    func evict(_ items: Range<Int>) throws { throw ContenderError.notDone }

    func promotedFile(_ index: Int) -> URL { promoted.url(index) }

    private static func path(_ folder: OpenFolder) -> String {
        folder.url.appending(path: name).path(percentEncoded: false)
    }

    /// Foundation's `Process` takes tens of milliseconds for this, which would be measured too.
    private func run(_ arguments: String...) throws {
        var pointers = arguments.map { strdup($0) }
        defer { for pointer in pointers { free(pointer) } }
        pointers.append(nil)
        var child = pid_t()
        try check(posix_spawnp(&child, arguments[0], nil, nil, pointers, nil))
        var status: CInt = 0
        while waitpid(child, &status, 0) < 0 {
            guard errno == EINTR else { throw FloorError(errno: errno) }
        }
        guard status == 0 else { throw ContenderError("failed with status \(status)") }
    }
}

extension Entry {
    /// `nil` when the command is not installed.
    public static func lz4() -> Entry? {
        let folders = ProcessInfo.processInfo.environment["PATH"]?.split(separator: ":") ?? []
        guard folders.contains(where: { access("\($0)/lz4", X_OK) == 0 }) else { return nil }
        return Entry(
            "lz4", "lz4 -1 to a new file, lz4 -d to /dev/null; promote: lz4 -d, fsync, rename, fsync, unlink"
        ) { try CommandContender(in: $0, for: $1) }
    }
}
