internal import Foundation
internal import PrefetchCaching
internal import PrefetchFileSystem
internal import StorageInventory
internal import SystemPackage

/// What `inventory --check --fix` has changed, for `--undo`: one JSON object per line, each durable before the change is
/// made. A line that a crash cut off belongs to a change that was not made.
struct FixJournal {
    private static let version = 1
    /// In bytes; a change takes some hundred.
    private static let limit = 1 << 30

    let path: FilePath
    private let fileSystem: LiveFileSystem
    private let file: Descriptor
    private var length: Int64 = 0

    /// Where the files go that a fix discards, absolute.
    static func discarded(for path: FilePath) -> FilePath {
        let folder = FilePath(FileManager.default.currentDirectoryPath)
        let absolute = path.isAbsolute ? path : folder.pushing(path)
        return FilePath(bytes: absolute.lexicallyNormalized().bytes + Array(".discarded".utf8))
    }

    /// Creates the file.
    init(creating path: FilePath, in fileSystem: LiveFileSystem) throws(CommandFailure) {
        self.path = path
        self.fileSystem = fileSystem
        do {
            file = try fileSystem.open(path, in: .workingDirectory, .createNew(.ownerReadWrite))
        } catch {
            guard error.errno == .fileExists else { throw CommandFailure(.cannotCreate, "\(error)") }
            throw CommandFailure(
                .cannotCreate,
                "\(path.displayText) exists; undo it with 'inventory --undo', or name another file")
        }
        do {
            try append(Data(#"{"fixes":\#(Self.version)}"#.utf8))
            // Its name has to be durable as well.
            let folder = path.removingLastComponent()
            try fileSystem.withFile(
                folder.isEmpty ? "." : folder, in: .workingDirectory, .directoryFollowingLinks
            ) { folder throws(FileSystemError) in try fileSystem.synchronize(folder) }
        } catch {
            close()
            throw CommandFailure(.cannotCreate, "\(error); remove \(path.displayText)")
        }
    }

    /// Whether no change was recorded.
    private(set) var isEmpty = true

    func close() { fileSystem.close(file) }

    mutating func append(_ act: FixAct) throws(FileSystemError) {
        let text: String
        do {
            text = try JSON.text(of: act.json, isPretty: false)
        } catch {
            throw FileSystemError("write", path: path, errno: .invalidArgument)
        }
        isEmpty = false
        try append(Data(text.utf8))
    }

    private mutating func append(_ line: Data) throws(FileSystemError) {
        let bytes = Array(line) + [UInt8(ascii: "\n")]
        try fileSystem.writeAll(bytes, to: file, at: length)
        try fileSystem.synchronize(file)
        length += Int64(bytes.count)
    }

    /// The changes in the order in which they were made.
    static func acts(in path: FilePath) throws(CommandFailure) -> [FixAct] {
        let input = try InputFile(path)
        var content = Data(count: Int(input.length ?? Int64(limit)) + 1)
        let length = try input.read(into: &content)
        var lines = content.prefix(length).split(
            separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        // What follows the last line break was cut off.
        _ = lines.popLast()
        do {
            let decoder = JSONDecoder()
            guard let first = lines.first, try decoder.decode(Header.self, from: first).fixes == version
            else {
                throw CommandFailure(.damaged, "")
            }
            return try lines.dropFirst().map { try decoder.decode(Record.self, from: $0).act }
        } catch {
            throw CommandFailure(
                .damaged,
                "\(input.name) is not a record of 'inventory --check --fix' of version \(version); name its file"
            )
        }
    }

    private struct Header: Decodable {
        let fixes: Int
    }

    private struct Record: Decodable {
        enum Act: String, Decodable { case move, makeFolder, removeFolder, exclude, include }

        let act: FixAct

        private enum CodingKeys: CodingKey {
            case act, path, target, inode, permissions, noDump, xdg, apple
        }

        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            let path = try container.decode(PathText.self, forKey: .path).path
            func mark(_ policy: BackupPolicy) throws -> FixAct {
                .mark(
                    path, policy,
                    before: FixAct.Marks(
                        isNoDump: try container.decode(Bool.self, forKey: .noDump),
                        xdg: try container.decodeIfPresent(Data.self, forKey: .xdg).map(Array.init),
                        apple: try container.decodeIfPresent(Data.self, forKey: .apple).map(Array.init)))
            }
            switch try container.decode(Act.self, forKey: .act) {
            case .move:
                let target = try container.decode(PathText.self, forKey: .target).path
                act = .move(path, to: target, inode: try container.decode(UInt64.self, forKey: .inode))
            case .makeFolder: act = .makeFolder(path)
            case .removeFolder:
                let bits = try container.decode(CInterop.Mode.self, forKey: .permissions)
                act = .removeFolder(path, FilePermissions(rawValue: bits))
            case .exclude: act = try mark(.exclude)
            case .include: act = try mark(.include)
            }
        }
    }
}

extension FixAct {
    var json: JSONObject {
        switch self {
        case .move(let path, let target, let inode):
            ["act": "move", "path": path.json, "target": target.json, "inode": inode]
        case .makeFolder(let path): ["act": "makeFolder", "path": path.json]
        case .removeFolder(let path, let permissions):
            ["act": "removeFolder", "path": path.json, "permissions": permissions.rawValue]
        case .mark(let path, let policy, let before):
            [
                "act": policy == .exclude ? "exclude" : "include", "path": path.json,
                "noDump": before.isNoDump, "xdg": before.xdg.map { Data($0) },
                "apple": before.apple.map { Data($0) },
            ]
        }
    }

    /// - Parameter isDone: Whether it was done, rather than would be.
    func line(isDone: Bool) -> String {
        let path = path.displayText
        return switch self {
        case .move(_, let target, _):
            "\(isDone ? "moved" : "would move") \(path) to \(target.displayText)"
        case .makeFolder: "\(isDone ? "created" : "would create") the folder \(path)"
        case .removeFolder: "\(isDone ? "removed" : "would remove") the empty folder \(path)"
        case .mark(_, .exclude, _): "\(isDone ? "excluded" : "would exclude") \(path) from backups"
        case .mark(_, .include, _): "\(isDone ? "included" : "would include") \(path) in backups"
        }
    }
}
