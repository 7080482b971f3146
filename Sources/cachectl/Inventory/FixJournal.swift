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
        FilePath(bytes: path.absolute.bytes + Array(".discarded".utf8))
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

    private var failure: FileSystemError?

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
        if let failure { throw failure }
        let bytes = Array(line) + [UInt8(ascii: "\n")]
        do {
            try fileSystem.writeAll(bytes, to: file, at: length)
            try fileSystem.synchronize(file)
        } catch {
            // After a failed flush a later success proves nothing.
            failure = error
            throw error
        }
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
        enum Act: String, Decodable {
            case move, makeFolder, removeFolder, exclude, include, restrict, tag
        }

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
            func permissions() throws -> FilePermissions {
                FilePermissions(rawValue: try container.decode(CInterop.Mode.self, forKey: .permissions))
            }
            switch try container.decode(Act.self, forKey: .act) {
            case .move:
                let target = try container.decode(PathText.self, forKey: .target).path
                act = .move(path, to: target, inode: try container.decode(UInt64.self, forKey: .inode))
            case .makeFolder: act = .makeFolder(path)
            case .removeFolder: act = .removeFolder(path, try permissions())
            case .exclude: act = try mark(.exclude)
            case .include: act = try mark(.include)
            case .restrict: act = .restrict(path, try permissions())
            case .tag: act = .tag(path)
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
        case .restrict(let path, let permissions):
            ["act": "restrict", "path": path.json, "permissions": permissions.rawValue]
        case .tag(let path): ["act": "tag", "path": path.json]
        }
    }

    /// - Parameter isDone: Whether it was done, rather than would be.
    func line(isDone: Bool, in inventory: FileInventory) -> String {
        let path = inventory.displayed(path).displayText
        return switch self {
        case .move(_, let target, _):
            "\(isDone ? "moved" : "would move") \(path) to \(inventory.displayed(target).displayText)"
        case .makeFolder: "\(isDone ? "created" : "would create") the folder \(path)"
        case .removeFolder: "\(isDone ? "removed" : "would remove") the empty folder \(path)"
        case .mark(_, .exclude, _): "\(isDone ? "excluded" : "would exclude") \(path) from backups"
        case .mark(_, .include, _): "\(isDone ? "included" : "would include") \(path) in backups"
        case .restrict: "\(isDone ? "restricted" : "would restrict") \(path) to its owner"
        case .tag: "\(isDone ? "tagged" : "would tag") \(path) as a folder of caches"
        }
    }
}

extension FilePath {
    /// The path without `.` and `..`, from the root. Links are not resolved.
    var absolute: FilePath {
        let folder = FilePath(FileManager.default.currentDirectoryPath)
        return (isAbsolute ? self : folder.pushing(self)).lexicallyNormalized()
    }
}

extension InventoryPlace {
    /// - Throws: A usage error if a file that the command writes would be one of the app's.
    func requireElsewhere(_ path: FilePath) throws(CommandFailure) {
        let absolute = path.absolute
        guard roots.contains(where: { absolute.starts(with: $0.0.lexicallyNormalized()) }) else { return }
        throw CommandFailure(
            .usage, "\(path.displayText) is among the app's files; name a file elsewhere")
    }
}

/// A path as JSON has it: a string or, for one that is not UTF-8, an object with its bytes.
struct PathText: Decodable {
    let path: FilePath

    private enum CodingKeys: CodingKey {
        case base64
    }

    init(from decoder: any Decoder) throws {
        do {
            path = FilePath(try decoder.singleValueContainer().decode(String.self))
        } catch DecodingError.typeMismatch {
            let data = try decoder.container(keyedBy: CodingKeys.self).decode(Data.self, forKey: .base64)
            path = FilePath(bytes: Array(data))
        }
    }
}
