import Foundation
import PrefetchFileSystem
import PrefetchItemFormat
import PrefetchStorageAreas
import SystemPackage

@testable import PrefetchCaching

/// What a process calls, or what a user's program does at the same time.
enum ExploredCall: String, Sendable, CaseIterable {
    case store, storeFile, read, open, openSeveral, deliver, storeAgain, replace, forget, delete, remove
    case purge, evict, trim, migrate, repair, close
    /// A program saves another file under the name of the opened one, deletes it, or moves it elsewhere.
    case userSaves, userDeletes, userMoves

    static let byUser: [ExploredCall] = [.userSaves, .userDeletes, .userMoves]
    static let byProcess = allCases.filter { !byUser.contains($0) }

    /// Whether it brings content for the cache.
    var stores: Bool { [.store, .storeFile, .storeAgain, .replace, .migrate].contains(self) }

    /// Whether it may take cached items away at any moment.
    var evicts: Bool { [.evict, .trim].contains(self) }
}

/// A call of one process, with all that it needs.
struct ExploredStep: Sendable {
    let call: ExploredCall
    /// Whose contents and files it brings: `A`, `B` or `C`.
    let name: String
    let key: ItemKey

    /// Makes the call, and says how it ended, in words that do not depend on the process.
    func run(_ process: ExploredProcess) -> String {
        do {
            return try outcome(process)
        } catch let error as CacheError {
            return "threw \(error.kind)"
        } catch {
            return "failed: \(error)"
        }
    }

    private func outcome(_ process: ExploredProcess) throws -> String {
        let (container, engine) = (process.container, process.engine)
        let content = ExploredContent.small(name)
        switch call {
        case .store:
            return try content.withBytes { bytes throws(CacheError) in
                try said(engine.store(bytes, as: metadata, encoding: .automatic))
            }
        case .storeFile:
            let file = container.handed(name)
            return try said(engine.store(contentsOf: FilePath(file.path), as: metadata, isHandedOver: true))
        case .read: return try said(engine.read(key, nil).map { ExploredContent.name(of: $0) })
        case .open: return try opened(engine.open(key))
        case .openSeveral:
            // Each is opened on its own: the other one is there to make it two.
            return try opened(engine.open([key, "bystander.txt"])[0].get())
        case .deliver, .storeAgain, .replace:
            var metadata = metadata
            if call == .deliver { metadata.intent = .userRequested }
            let terms: WhenPromoted =
                call == .replace ? .replaceIfUnmodified : call == .storeAgain ? .storeAgain : .leave
            switch try engine.beginStore(
                metadata, encoding: .automatic, expectedLength: Int64(content.count), whenPromoted: terms)
            {
            case .refused(let refusal): return "refused \(refusal.reason)"
            case .begun(let store):
                return try content.withBytes { bytes throws(CacheError) in
                    try said(store.commit(appending: bytes))
                }
            }
        case .forget: return try "forgot \(engine.forget(key))"
        case .delete: return try "deleted \(engine.deletePromotedFile(key))"
        case .remove: return try "removed \(engine.remove(key))"
        case .purge:
            let report = try engine.purgeExcluded(unusedSince: .max, isDryRun: false)
            let failures = report.failures.map { ", \($0.key) failed: \($0.error)" }.joined()
            return "purged \(report.purged.contains { $0.key == key })\(failures)"
        case .evict:
            _ = try engine.evict(.max)
            return "evicted"
        case .trim:
            try engine.maintain()
            return "trimmed"
        case .migrate:
            var outcomes: [String] = []
            let request = MigrationRequest(of: container.old(name), as: .cached(to: .documents))
            try Migrator(engine: engine, request: request, isDryRun: false).run {
                outcomes.append("\($0.outcome)")
            }
            return "migrated \(outcomes.map { $0.prefix { $0 != "(" } })"
        case .repair:
            _ = try engine.repair(isDryRun: false)
            return "repaired"
        case .close:
            try engine.close()
            return "closed"
        case .userSaves, .userDeletes, .userMoves: return try useFile(container)
        }
    }

    private func useFile(_ container: ExploredContainer) throws -> String {
        let live = LiveFileSystem()
        let file = FilePath(container.opened.path)
        guard call == .userSaves || FileManager.default.fileExists(atPath: file.string) else {
            return "nothing"
        }
        switch call {
        case .userSaves:
            let draft = container.root.appending(path: "draft-\(name)")
            try ExploredContent.small("user \(name)").write(to: draft)
            try live.rename(
                FilePath(draft.path), in: .workingDirectory, to: file, in: .workingDirectory, .replacing)
        case .userDeletes: try live.unlink(file, in: .workingDirectory)
        default:
            try live.rename(
                file, in: .workingDirectory,
                to: FilePath(container.root.appending(path: "kept-\(name)").path),
                in: .workingDirectory, .exclusive)
        }
        return "done"
    }

    private var metadata: ItemMetadata { ExploredContent.metadata(key) }

    private func opened(_ lookup: Lookup<PromotedFile>) throws -> String {
        said(lookup.map { "\($0.name.string)\($0.isFirstOpen ? " for the first time" : "")" })
    }

    private func said(_ lookup: Lookup<String>) -> String {
        switch lookup {
        case .hit(let text): text
        case .miss(let miss): "miss \(miss)"
        }
    }

    private func said(_ outcome: StoreOutcome) -> String {
        switch outcome {
        case .stored: "stored"
        case .delivered(let file): "delivered \(file.name.string)"
        case .refused(let refusal): "refused \(refusal.reason)"
        }
    }
}

extension CacheError {
    /// The kind of error, without paths and numbers.
    fileprivate var kind: String {
        switch self {
        case .busy: "busy"
        case .overtaken: "overtaken"
        case .movedOrDeleted: "movedOrDeleted"
        case .fileChanged: "fileChanged"
        case .closed: "closed"
        case .fileSystem(let error) where error.isNotFound: "not found"
        default: "\(self)"
        }
    }
}

/// The contents of the items, each known by its bytes.
enum ExploredContent {
    private static let small: [String: Data] = {
        let names =
            ["old", "other", "bystander", "mine"]
            + ["A", "B", "C"].flatMap { [$0, "user \($0)", "migrated \($0)"] }
        var contents = Dictionary(
            uniqueKeysWithValues: zip(names, 1...).map { ($0, noise(5000 + $1, seed: UInt64($1))) })
        contents["old text"] = prose(5000)
        return contents
    }()
    /// Longer than a chunk, so that the file itself becomes the item.
    private static let handed = Dictionary(
        uniqueKeysWithValues: ["A", "B", "C"].enumerated().map { number, name in
            ("handed \(name)", noise((1 << 20) + 5000 + number, seed: UInt64(100 + number)))
        })
    private static let names = Dictionary(uniqueKeysWithValues: small.merging(handed) { $1 }.map { ($1, $0) })

    static func small(_ name: String) -> Data { small[name] ?? Data() }
    static func handed(_ name: String) -> Data { handed["handed \(name)"] ?? Data() }

    static func name(of content: Data) -> String { names[content] ?? "torn (\(content.count) bytes)" }

    static func metadata(_ key: ItemKey) -> ItemMetadata {
        let name = key == "bystander.txt" ? "bystander.txt" : "Doc.txt"
        return ItemMetadata(key: key, destination: .documents(FileName(sanitizing: name), backup: .exclude))
    }
}
