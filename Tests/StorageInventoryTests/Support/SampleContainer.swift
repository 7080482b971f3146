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

    func inventory(_ fileSystem: any FileSystem = LiveFileSystem()) throws -> FileInventory {
        try FileInventory(
            of: InventoryPlace(areas: areas, container: FilePath(root.path)), in: fileSystem)
    }

    func findings(_ settings: AppSettings? = nil, by manifest: StorageManifest? = nil) throws -> [Finding] {
        let options = Checkup.Options(now: .now, settings: settings, manifest: manifest)
        return Checkup.run(on: try inventory(), options, in: LiveFileSystem()).findings
    }

    /// The rules that find something.
    func found() throws -> [String] { try findings().map(\.rule.name) }

    func url(_ path: String) -> URL { root.appending(path: path) }

    func write(_ content: Data, to path: String) throws {
        let file = url(path)
        try FileManager.default.createDirectory(
            at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        try content.write(to: file)
    }

    /// - Parameters:
    ///   - text: The content; `nil` for one that no other file has.
    ///   - days: How long ago the file was used last.
    ///   - isMarked: Whether the file is marked as excluded from backups.
    func write(_ text: String? = nil, to path: String, days: Int = 0, isMarked: Bool = false) throws {
        try write(Data((text ?? path).utf8), to: path)
        if isMarked { try mark(.exclude, path) }
        if days > 0 { try age(path, days: days) }
    }

    func createFolder(_ path: String) throws {
        try FileManager.default.createDirectory(at: url(path), withIntermediateDirectories: true)
    }

    func remove(_ path: String) throws { try FileManager.default.removeItem(at: url(path)) }

    func move(_ path: String, to new: String) throws {
        try FileManager.default.createDirectory(
            at: url(new).deletingLastPathComponent(), withIntermediateDirectories: true)
        try FileManager.default.moveItem(at: url(path), to: url(new))
    }

    func link(_ path: String, to new: String) throws {
        try FileManager.default.linkItem(at: url(path), to: url(new))
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

    /// Opens items as an app does.
    func open(_ items: [(ItemMetadata, Data)], excludingInto folder: FileName? = nil) async throws {
        let cache = try await cache(excludingInto: folder)
        for (metadata, content) in items {
            _ = try await cache.store(content, as: metadata)
            _ = try #require(try await cache.open(metadata.key))
        }
        try await cache.close()
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
        try write("my own words", to: "Documents/letter.txt")
        try write("setting", to: "Library/Preferences/org.example.plist")
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

/// A suite of which each test has a container of its own, with a cache that was used.
class ContainerSuite {
    let container: SampleContainer

    init() async throws {
        container = try SampleContainer()
        try await container.use()
    }

    func found() throws -> [String] { try container.found() }

    func write(_ text: String? = nil, to path: String, days: Int = 0, isMarked: Bool = false) throws {
        try container.write(text, to: path, days: days, isMarked: isMarked)
    }

    func findings(of inventory: FileInventory, in fileSystem: any FileSystem = LiveFileSystem()) -> [Finding]
    {
        Checkup.run(on: inventory, .init(now: .now), in: fileSystem).findings
    }
}

/// A file system in which an operation fails.
func failing(
    with errno: Errno = .permissionDenied,
    where isAffected: @escaping @Sendable (FileSystemTestSupport.Operation) -> Bool
) -> InterceptingFileSystem {
    InterceptingFileSystem(isOutside: true) { operation throws(FileSystemError) in
        if isAffected(operation) { throw FileSystemError("test", errno: errno) }
    }
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
    struct Outcome {
        let status: Int32
        let output: String
    }

    struct Failed: Error {
        let outcome: Outcome
    }

    @discardableResult
    static func run(_ program: String, _ arguments: String...) throws -> String {
        try run(program, arguments)
    }

    @discardableResult
    static func run(_ program: String, _ arguments: [String]) throws -> String {
        let outcome = try outcome(of: program, arguments)
        guard outcome.status == 0 else { throw Failed(outcome: outcome) }
        return outcome.output
    }

    /// - Parameter errors: Whether the output includes what goes to standard error.
    static func outcome(of program: String, _ arguments: [String], with errors: Bool = false) throws
        -> Outcome
    {
        let process = ChildProcess()
        process.executableURL = URL(filePath: program)
        process.arguments = arguments
        let output = Pipe()
        process.standardOutput = output
        if errors { process.standardError = output } else { process.standardError = FileHandle.nullDevice }
        try process.run()
        let data = try output.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        return Outcome(status: process.terminationStatus, output: String(decoding: data, as: UTF8.self))
    }
}

/// The built `cachectl`, which lies beside the tests.
enum BuiltTool {
    private static var path: String {
        get throws {
            let file = Bundle.main.bundleURL.appending(path: "cachectl", directoryHint: .notDirectory)
            if FileManager.default.isExecutableFile(atPath: file.path) { return file.path }
            // Where tests run inside a helper process, the test bundle tells the folder.
            let bundle = try #require(Bundle.allBundles.first { $0.bundlePath.hasSuffix(".xctest") })
            return bundle.bundleURL.deletingLastPathComponent().appending(path: "cachectl").path
        }
    }

    static func run(_ arguments: [String], on container: SampleContainer) throws -> Command.Outcome {
        try run(arguments, in: container.root)
    }

    static func run(_ arguments: [String], in container: URL) throws -> Command.Outcome {
        try Command.outcome(of: path, arguments + ["--container", container.path], with: true)
    }
}
