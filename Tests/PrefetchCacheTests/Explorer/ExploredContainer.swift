import FileSystemTestSupport
import Foundation
import Logging
import PrefetchFileSystem
import PrefetchItemFormat
import PrefetchStorageAreas
import PrefetchVolumeCapacity
import Synchronization
import SystemPackage

@testable import PrefetchCaching

/// A container in memory that several processes use, and what it holds.
final class ExploredContainer: Sendable {
    static let key: ItemKey = "Doc.txt"
    static let other: ItemKey = "Other.txt"

    private let container: TemporaryContainer
    private let sessions = Atomic<UInt64>(1 << 60)

    init() throws { container = try TemporaryContainer(in: .fastTemporaryFolder) }

    var root: URL { container.root }
    var opened: URL { container.document("Doc.txt") }

    func handed(_ name: String) -> URL { root.appending(path: "handed-\(name)") }
    func old(_ name: String) -> FilePath { FilePath(root.appending(path: "old-\(name)").path) }

    /// Opens the cache as a process of its own does.
    func process(_ fileSystem: any FileSystem = LiveFileSystem()) throws -> ExploredProcess {
        let session = sessions.wrappingAdd(1, ordering: .relaxed).newValue
        let milliseconds = Atomic<Int64>(1_700_000_000_000 + Int64(session & 0xFFFF) * 1_000_000)
        let looks = Atomic<Int>(0)
        let engine = try Engine(
            areas: container.areas(),
            environment: CacheEnvironment(
                fileSystem: fileSystem,
                now: { milliseconds.wrappingAdd(1000, ordering: .relaxed).newValue },
                // Whoever waits here waits for a process that is stopped: the time is soon over.
                uptime: { .seconds(looks.wrappingAdd(60, ordering: .relaxed).newValue) },
                probe: FixedVolumeProbe.roomy, session: String(session, radix: 16), bootIdentifier: "boot",
                parallelism: 1, longestCopy: 0,
                logger: Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() })))
        return ExploredProcess(container: self, engine: engine)
    }

    /// What the container holds, in lines that do not depend on who came first by accident. Afterwards no process uses it.
    func holdings() throws -> [String] {
        let process = try process()
        let engine = process.engine
        var lines: [String] = []
        for key in [Self.key, Self.other] {
            if let entry = try engine.ledger.entry(for: key) {
                let state = entry.isUnfinished ? "unfinished" : "\(entry.origin)"
                lines.append("\(key) was opened: \(entry.name) \(state)")
            }
            let cached = try engine.withItem(key, isUse: false) { reader throws(ItemFormatError) in
                try Data(reading: 0..<reader.footer.contentBytes, of: reader)
            }
            if case .hit(let content) = cached {
                lines.append("\(key) is cached: \(ExploredContent.name(of: content))")
            }
        }
        lines += try books(engine)
        try engine.close()
        for folder in ["Documents", "Library/Application Support", "Library/Caches"] {
            for path in try container.files(below: root.appending(path: folder)) {
                lines += try line(of: folder + "/" + path)
            }
        }
        for name in try FileManager.default.contentsOfDirectory(atPath: root.path) {
            var isFolder: ObjCBool = false
            let path = root.appending(path: name).path
            guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) else { continue }
            if !isFolder.boolValue { lines += try line(of: name) }
            guard isFolder.boolValue, name.hasPrefix("old-") else { continue }
            for file in try container.files(below: root.appending(path: name)) {
                lines += try line(of: name + "/" + file)
            }
        }
        return lines.filter { !$0.hasSuffix(": bystander") }.sorted()
    }

    private func books(_ engine: Engine) throws -> [String] {
        var wrong: [String] = []
        let statistics = try engine.statistics()
        let charged = try container.chargedOnDisk()
        if statistics.chargedBytes != charged {
            wrong.append("WRONG: charged \(statistics.chargedBytes), on disk \(charged)")
        }
        let held = try engine.capacity().heldBytes
        if held != 0 { wrong.append("WRONG: \(held) bytes are held") }
        if statistics.chargedBytes > statistics.budgetBytes { wrong.append("WRONG: above the budget") }
        return wrong
    }

    /// Databases and items are looked at otherwise.
    private func line(of path: String) throws -> [String] {
        let name = URL(filePath: path).lastPathComponent
        let ignored = [
            ".sqlite", ".sqlite-wal", ".sqlite-shm", ".sqlite-journal", ".lock", ".json", ".TAG",
            "generation",
        ]
        if ignored.contains(where: name.hasSuffix) || path.contains("PrefetchCache/items/") { return [] }
        let content = try Data(contentsOf: root.appending(path: path))
        return ["\(path): \(ExploredContent.name(of: content))"]
    }
}

/// A process that has the cache open.
struct ExploredProcess: Sendable {
    let container: ExploredContainer
    let engine: Engine
}
