import FileSystemTestSupport
import Foundation
import PrefetchCaching
import PrefetchFileSystem
import PrefetchVolumeCapacity
import SystemPackage
import Testing

@testable import StorageInventory

/// An app's container with a cache in it that was used a little, and with nothing wrong.
final class SampleContainer: Sendable {
    let root: URL
    let areas: StorageAreas

    init() throws {
        root = URL(filePath: try FilePath(NSTemporaryDirectory()).resolved().string)
            .appending(path: "StorageInventoryTests-\(UUID().uuidString)", directoryHint: .isDirectory)
        areas = try .container(at: FilePath(root.path))
        try FileManager.default.createDirectory(at: root, withIntermediateDirectories: true)
    }

    deinit {
        // What lies deeper than a path is long is too deep for Foundation.
        do {
            try Command.run("/bin/rm", "-rf", root.path)
        } catch {
            print("left behind: \(root.path) (\(error))")
        }
    }

    func inventory(_ fileSystem: any FileSystem = LiveFileSystem(), for tool: BackupTool = .system) throws
        -> FileInventory
    {
        let place = InventoryPlace(areas: areas, container: FilePath(root.path), backupTool: tool)
        return try FileInventory(of: place, in: fileSystem)
    }

    func findings(_ settings: AppSettings? = nil, by manifest: StorageManifest? = nil) throws -> [Finding] {
        let options = Checkup.Options(now: .now, settings: settings, manifest: manifest)
        return Checkup.run(on: try inventory(), options, in: LiveFileSystem()).findings
    }

    func url(_ path: String) -> URL { root.appending(path: path) }

    func write(_ content: Data, to path: String) throws {
        let file = url(path)
        try FileManager.default.createDirectory(
            at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        try content.write(to: file)
    }

    /// Writes a file of a length, without blocks.
    func write(length: UInt64, to path: String) throws {
        try write(Data(), to: path)
        let file = try FileHandle(forWritingTo: url(path))
        try file.truncate(atOffset: length)
        try file.close()
    }

    func age(_ path: String, days: Int) throws {
        let date = Date(timeIntervalSinceNow: -86_400 * Double(days)).formatted(.iso8601)
        try Command.run("/usr/bin/touch", "-d", date, url(path).path)
    }

    func mark(_ policy: BackupPolicy, _ path: String) throws {
        let live = LiveFileSystem()
        try live.withFile(FilePath(url(path).path), in: .workingDirectory, .read) {
            file throws(FileSystemError) in try BackupMark(fileSystem: live).set(policy, on: file)
        }
    }

    func setAttribute(_ name: String, _ value: some Sequence<UInt8>, of path: String) throws {
        let live = LiveFileSystem()
        try live.withFile(FilePath(url(path).path), in: .workingDirectory, .read) {
            file throws(FileSystemError) in try live.setExtendedAttribute(name, to: Array(value), of: file)
        }
    }

    /// `user_version`, sqlite.org/fileformat.html
    func setCatalogVersion(_ version: UInt8) throws {
        let file = try FileHandle(forUpdating: url("Library/Caches/PrefetchCache/catalog.sqlite"))
        try file.seek(toOffset: 60)
        try file.write(contentsOf: [0, 0, 0, version])
        try file.close()
    }

    /// - Parameter excludedFolder: The folder for what backups exclude.
    func cache(excludingInto excludedFolder: FileName? = nil) async throws -> PrefetchCache {
        var environment = CacheEnvironment.live()
        environment.probe = FixedVolumeProbe(VolumeState(total: 1 << 40, available: 1 << 39))
        return try await PrefetchCache(
            areas: areas.excluding(into: excludedFolder), environment: environment)
    }

    /// Uses a cache as an app does: two items are stored, two more were opened.
    func use() async throws {
        let cache = try await cache()
        for metadata in Self.stored + Self.opened {
            guard case .stored = try await cache.store(content(metadata.key.string), as: metadata) else {
                throw Unexpected()
            }
        }
        for metadata in Self.opened { _ = try #require(try await cache.open(metadata.key)) }
        try await cache.close()
        try write(Data("my own words".utf8), to: "Documents/letter.txt")
        try write(Data("setting".utf8), to: "Library/Preferences/org.example.plist")
    }

    static let stored = [
        ItemMetadata(
            key: "episode-1", source: "feed-a", destination: .documents("Episode 1.txt", backup: .include)),
        ItemMetadata(
            key: "episode-2", source: "feed-b", destination: .documents("Episode 2.txt", backup: .include)),
    ]
    static let opened = [
        ItemMetadata(
            key: "film", source: "feed-a", destination: .documents("Film.txt", in: "Films", backup: .include)),
        ItemMetadata(
            key: "map", source: "feed-a", destination: .applicationSupport("Map.txt", backup: .exclude)),
    ]

    struct Unexpected: Error {}
}

/// Compressible, of more than 4 KiB, and different for each seed.
func content(_ seed: String) -> Data { Data((0..<800).map { "\(seed) \($0)\n" }.joined().utf8) }

extension Int64 {
    /// Milliseconds since 1970.
    static var now: Int64 { Int64(Date().timeIntervalSince1970 * 1000) }
}

extension FilePath {
    /// Without symbolic links.
    func resolved() throws -> FilePath {
        FilePath(URL(filePath: string).resolvingSymlinksInPath().path)
    }
}

/// A program of the system.
enum Command {
    struct Failed: Error {
        let status: Int32
        let errors: String
    }

    @discardableResult
    static func run(_ program: String, _ arguments: String...) throws -> String {
        try run(program, arguments)
    }

    @discardableResult
    static func run(_ program: String, _ arguments: [String]) throws -> String {
        let process = ChildProcess()
        process.executableURL = URL(filePath: program)
        process.arguments = arguments
        let output = Pipe()
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        try process.run()
        let data = try output.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else {
            throw Failed(status: process.terminationStatus, errors: "")
        }
        return String(decoding: data, as: UTF8.self)
    }
}
