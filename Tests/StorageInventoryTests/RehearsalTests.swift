import FileSystemTestSupport
import Foundation
import PrefetchCaching
import PrefetchFileSystem
import SystemPackage
import Testing

@testable import StorageInventory

/// What `rehearse` foretells, compared with what is there after it has been done.
@Suite struct RehearsalTests {
    private struct Report: Decodable {
        struct Sum: Decodable, Equatable {
            let fate: String
            let files: Int
            let bytes: Int64
        }

        struct File: Decodable {
            let path: String
            let bytes: Int64
            let fate: String
            let key: String?
        }

        let event: String
        let sums: [Sum]
        let files: [File]

        func paths(_ fates: Fate...) -> [String] {
            files.filter { file in fates.contains { $0.rawValue == file.fate } }.map(\.path).sorted()
        }
    }

    private let container: SampleContainer
    private let work: TemporaryFolder

    /// A used cache, and files of every fate.
    init() async throws {
        container = try SampleContainer()
        work = try TemporaryFolder()
        try await container.use()
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

    private var manifest: String {
        get throws {
            let file = work.path.appending("storage.json").string
            let entries = [("derived", "\"derive\""), ("mine", "false")].map { name, regenerable in
                """
                {"path": "Library/Caches/org.example.sdk/\(name)", "what": "A file", "why": "It is needed.",
                 "area": "\(name == "mine" ? "support" : "caches")", "backup": "system",
                 "regenerable": \(regenerable)}
                """
            }
            try #"{"version": 1, "entries": [\#(entries.joined(separator: ","))]}"#
                .write(toFile: file, atomically: true, encoding: .utf8)
            return file
        }
    }

    private func rehearse(_ arguments: String...) throws -> Report {
        let before = try Photograph(of: container.root)
        let arguments = ["rehearse"] + arguments
        let outcome = try BuiltTool.run(arguments + ["--json"], on: container)
        #expect(outcome.status == 0, "\(outcome.output)")
        let text = try BuiltTool.run(arguments, on: container)
        let report = try JSONDecoder().decode(Report.self, from: Data(outcome.output.utf8))
        for file in report.files where file.fate != "stays" {
            #expect(text.output.contains(file.path), "\(file.path) is missing in \(text.output)")
        }
        for sum in report.sums {
            let files = report.files.filter { $0.fate == sum.fate }
            #expect(
                sum == .init(fate: sum.fate, files: files.count, bytes: files.reduce(0) { $0 + $1.bytes }))
        }
        #expect(try Photograph(of: container.root) == before)
        return report
    }

    private static func files(in root: URL) throws -> [String] {
        try FileManager.default.subpathsOfDirectory(atPath: root.path).filter { path in
            let attributes = try FileManager.default.attributesOfItem(
                atPath: root.appending(path: path).path)
            return attributes[.type] as? FileAttributeType != .typeDirectory
        }.sorted()
    }

    private func removeContent(of folder: String) throws {
        for name in try FileManager.default.contentsOfDirectory(atPath: container.url(folder).path) {
            try FileManager.default.removeItem(at: container.url("\(folder)/\(name)"))
        }
    }

    /// Holds a prediction against the container that is left, and then the cache.
    private func expect(_ report: Report, in root: URL, stays: [String]) async throws {
        #expect(try Self.files(in: root) == stays)
        #expect(report.paths(.missed).isEmpty == false)
        var environment = CacheEnvironment.live()
        environment.probe = FixedVolumeProbe(VolumeState(total: 1 << 40, available: 1 << 39))
        let cache = try await PrefetchCache(
            areas: .container(at: FilePath(root.path)), environment: environment)
        for key in report.files.filter({ $0.fate == "missed" }).compactMap(\.key) {
            #expect(try await cache.open(try ItemKey(key)) == nil)
        }
        for file in report.files where file.fate == "stays" {
            guard let key = file.key else { continue }
            let opened = try #require(try await cache.open(try ItemKey(key)))
            #expect(opened.url.path == root.appending(path: file.path).path)
            #expect(try Data(contentsOf: opened.url) == content(key))
        }
        try await cache.close()
    }

    @Test func aPurge() async throws {
        let report = try rehearse("purge", "--manifest", try manifest)
        #expect(report.paths(.remade).contains("Library/Caches/org.example.sdk/derived"))
        #expect(report.paths(.lost) == ["Library/Caches/org.example.sdk/mine"])
        #expect(report.paths(.unknown) == ["tmp/upload.part"])
        for folder in ["Library/Caches", "tmp"] { try removeContent(of: folder) }
        try await expect(report, in: container.root, stays: report.paths(.stays))
    }

    /// The app comes back to a container with another path.
    @Test func anOffload() async throws {
        let report = try rehearse("offload")
        let root = URL(filePath: work.path.string).appending(path: "Another")
        try FileManager.default.copyItem(at: container.root, to: root)
        for folder in ["Library/Caches", "tmp"] {
            try FileManager.default.removeItem(at: root.appending(path: folder))
        }
        try await expect(report, in: root, stays: report.paths(.stays))
    }

    @Test func aRestore() async throws {
        let report = try rehearse("restore")
        #expect(report.paths(.rehydrated) == ["Documents/Songs/Song.mp3"])
        #expect(
            report.paths(.downloaded)
                == [
                    "Documents/Songs/Song (2).mp3",
                    "Library/Application Support/PrefetchCache/files/Map.txt",
                ])
        #expect(report.paths(.uploaded) == ["Library/Mobile Documents/Essay.pages"])
        #expect(report.paths(.unknown).contains("Library/Application Support/Tiles/1"))
        let list = work.path.appending("list").string
        let excluded = try BuiltTool.run(
            ["inventory", "--exclude-list", "--backup-tool", "tar"], on: container)
        try excluded.output.write(toFile: list, atomically: true, encoding: .utf8)
        let root = try restored(["--anchored", "-X", list])
        let stays = report.paths(.stays)
        try await expect(report, in: root, stays: stays)
        // It lists what is lost of what was opened, and the two agree.
        let outcome = try BuiltTool.run(["rehydrate", "--dry-run"], in: root)
        for path in report.paths(.rehydrated, .downloaded) { #expect(outcome.output.contains(path)) }
        #expect(outcome.output.contains("3 files are missing"))
    }

    @Test func aRestoreByAnotherTool() async throws {
        let report = try rehearse("restore", "--backup-tool", "tar")
        let root = try restored(["--exclude-caches"])
        try await expect(report, in: root, stays: report.paths(.stays, .uploaded))
    }

    /// What GNU tar archives of the container, in another place.
    private func restored(_ options: [String]) throws -> URL {
        let folder = URL(filePath: work.path.string).appending(path: "Restored")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
        let archive = folder.path + ".tar"
        try Command.run("/bin/tar", ["-C", "/", "-cPf", archive] + options + [container.root.path])
        try Command.run("/bin/tar", "-C", folder.path, "-xf", archive)
        return folder.appending(path: String(container.root.path.dropFirst()))
    }
}
