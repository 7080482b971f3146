import FileSystemTestSupport
import Foundation
import PrefetchCaching
import PrefetchFileSystem
import SystemPackage
import Testing

@testable import StorageInventory

/// The fates that are foretold, compared with what is there afterwards.
@Suite final class FateTests: ContainerSuite {
    private struct File {
        let path: String
        let fate: Fate
        let key: String?
    }

    private let work: TemporaryFolder

    /// A used cache, and files of every fate.
    override init() async throws {
        work = try TemporaryFolder()
        try await super.init()
        let cache = try await container.cache()
        for (key, url) in [("recorded", URL(string: "https://media.example.org/song.mp3")), ("own", nil)] {
            let metadata = ItemMetadata(
                key: try ItemKey(key), destination: .documents("Song.mp3", in: "Songs", backup: .exclude),
                url: url)
            _ = try await cache.store(content(key), as: metadata)
            _ = try await cache.open(metadata.key)
        }
        let begun = try await cache.beginStoring(
            ItemMetadata(key: "half", destination: .documents("Half.txt")), keepingPartial: true)
        guard case .writer(let writer) = begun else { throw SampleContainer.Unexpected() }
        #expect(try await writer.write(Data(repeating: 7, count: 2 << 20)) == nil)
        #expect(try await writer.keep() > 0)
        try await cache.close()
        for path in [
            "Library/Caches/org.example.sdk/derived", "Library/Caches/org.example.sdk/mine",
            "tmp/upload.part",
            "Library/Application Support/Tiles/1", "Library/Mobile Documents/Essay.pages",
        ] {
            try container.write(Data(path.utf8), to: path)
        }
        try container.mark(.exclude, "Library/Application Support/Tiles")
    }

    private var manifest: StorageManifest {
        get throws {
            let entries = [("derived", "\"derive\""), ("mine", "false")].map { name, regenerable in
                """
                {"path": "Library/Caches/org.example.sdk/\(name)", "what": "A file", "why": "It is needed.",
                 "area": "\(name == "mine" ? "support" : "caches")", "backup": "system",
                 "regenerable": \(regenerable)}
                """
            }
            let text = #"{"version": 1, "entries": [\#(entries.joined(separator: ","))]}"#
            return try StorageManifest(parsing: Array(text.utf8), named: "storage.json")
        }
    }

    private func foretold() throws -> [File] {
        let manifest = try manifest
        let before = try Photograph(of: container.root)
        let inventory = try container.inventory()
        #expect(try Photograph(of: container.root) == before)
        return inventory.files.map { file in
            File(
                path: inventory.path(of: file).string,
                fate: inventory.fate(of: file, manifest.entry(for: inventory.path(of: file))),
                key: file.facts?.key)
        }
    }

    private static func paths(_ fates: Fate..., of files: [File]) -> [String] {
        files.filter { fates.contains($0.fate) }.map(\.path).sorted()
    }

    private static func files(in root: URL) throws -> [String] {
        try FileManager.default.subpathsOfDirectory(atPath: root.path).filter { path in
            let attributes = try FileManager.default.attributesOfItem(
                atPath: root.appending(path: path).path)
            return attributes[.type] as? FileAttributeType != .typeDirectory
        }.sorted()
    }

    /// Holds a prediction against the container that is left, and then the cache.
    private func expect(_ files: [File], in root: URL, stays: [String]) async throws {
        #expect(try Self.files(in: root) == stays)
        #expect(files.contains { $0.fate == .missed })
        var environment = CacheEnvironment.live()
        environment.probe = FixedVolumeProbe(VolumeState(total: 1 << 40, available: 1 << 39))
        let cache = try await PrefetchCache(
            areas: .container(at: FilePath(root.path)), environment: environment)
        for key in files.filter({ $0.fate == .missed }).compactMap(\.key) {
            #expect(try await cache.open(try ItemKey(key)) == nil)
        }
        for file in files where file.fate == .stays {
            guard let key = file.key else { continue }
            let opened = try #require(try await cache.open(try ItemKey(key)))
            #expect(opened.url.path == root.appending(path: file.path).path)
            #expect(try Data(contentsOf: opened.url) == content(key))
        }
        try await cache.close()
    }

    @Test func aRestore() async throws {
        let files = try foretold()
        #expect(Self.paths(.rehydrated, of: files) == ["Documents/Songs/Song.mp3"])
        #expect(
            Self.paths(.downloaded, of: files)
                == [
                    "Documents/Songs/Song (2).mp3",
                    "Library/Application Support/PrefetchCache/files/Map.txt",
                ])
        #expect(Self.paths(.remade, of: files).contains("Library/Caches/org.example.sdk/derived"))
        #expect(Self.paths(.lost, of: files) == ["Library/Caches/org.example.sdk/mine"])
        #expect(Self.paths(.uploaded, of: files) == ["Library/Mobile Documents/Essay.pages"])
        #expect(
            Self.paths(.unknown, of: files) == ["Library/Application Support/Tiles/1", "tmp/upload.part"])
        let stays = Self.paths(.stays, of: files)
        let root = try restored(stays)
        try await expect(files, in: root, stays: stays)
        // It lists what is lost of what was opened, and the two agree.
        let outcome = try BuiltTool.run(["fetch", "--missing", "--dry-run"], in: root)
        for path in Self.paths(.rehydrated, .downloaded, of: files) { #expect(outcome.output.contains(path)) }
        #expect(outcome.output.contains("3 files are missing"))
    }

    /// What GNU tar archives of the container, in another place.
    private func restored(_ paths: [String]) throws -> URL {
        let folder = URL(filePath: work.path.string).appending(path: "Restored")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
        let archive = folder.path + ".tar"
        try Command.run("/bin/tar", ["-C", container.root.path, "-cf", archive] + paths)
        try Command.run("/bin/tar", "-C", folder.path, "-xf", archive)
        return folder
    }
}
