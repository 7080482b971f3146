import CFloor
public import Foundation

/// What one would do in a shell with a large file: `lz4 -1`.
public final class CommandContender: LargeContender {
    public let name = "lz4"
    public let setup =
        "lz4 -1 to a new file, lz4 -d to /dev/null; promote: lz4 -d, fsync, rename, fsync, unlink"
    private var folders: LargeFolders?
    private var file: LargeFile?

    /// - Returns: `nil` when the command is not installed.
    public init?() {
        let folders = ProcessInfo.processInfo.environment["PATH"]?.split(separator: ":") ?? []
        guard folders.contains(where: { access("\($0)/\(name)", X_OK) == 0 }) else { return nil }
    }

    public func prepare(in directory: URL, for file: LargeFile) throws {
        folders = try LargeFolders(in: directory)
        self.file = file
    }

    public func store() throws {
        let (folders, file) = try prepared()
        let source = file.url.path(percentEncoded: false)
        let target = folders.path("incoming/\(LargeFolders.temporary)")
        try run("lz4", "-q", "-1", source, target)
        guard renameat(folders.incoming, LargeFolders.temporary, folders.items, LargeFolders.item) == 0 else {
            throw FloorError(errno: errno)
        }
    }

    public func read() throws {
        try decode(to: "/dev/null")
    }

    public func promote() throws {
        let (folders, _) = try prepared()
        try decode(to: folders.path("staging/\(LargeFolders.temporary)"))
        try folders.check(
            floor_publish_file(
                folders.staging, LargeFolders.temporary, folders.documents, LargeFolders.final))
        try folders.check(floor_unlink(folders.items, LargeFolders.item))
    }

    public var promotedFile: URL {
        get throws { try prepared().folders.promotedFile }
    }

    public func cleanup() {
        folders = nil
    }

    private func decode(to target: String) throws {
        let item = try prepared().folders.path("items/\(LargeFolders.item)")
        try run("lz4", "-q", "-f", "-d", item, target)
    }

    /// Foundation's `Process` takes tens of milliseconds for this, which would be measured too.
    private func run(_ arguments: String...) throws {
        var pointers = arguments.map { strdup($0) }
        defer { for pointer in pointers { free(pointer) } }
        pointers.append(nil)
        var child = pid_t()
        let errno = posix_spawnp(&child, arguments[0], nil, nil, pointers, nil)
        guard errno == 0 else { throw PeerError(peer: name, message: String(cString: strerror(errno))) }
        var status: CInt = 0
        while waitpid(child, &status, 0) < 0 {
            guard Foundation.errno == EINTR else { throw FloorError(errno: Foundation.errno) }
        }
        guard status == 0 else { throw PeerError(peer: name, message: "failed with status \(status)") }
    }

    private func prepared() throws -> (folders: LargeFolders, file: LargeFile) {
        guard let folders, let file else { throw ContenderError.notPrepared }
        return (folders, file)
    }
}
