import FileSystemTestSupport
import Foundation
import PrefetchFileSystem
import Synchronization
import SystemPackage
import Testing

@testable import PrefetchCaching

/// What users and their programs do with a file, knowing nothing of the cache.
enum Hand: String, Sendable, CaseIterable {
    case deletes, movesAway
    /// Saves another file under the name, as editors do.
    case replaces
    /// Saves a file with the very content of the item.
    case putsACopy
    /// Writes into the file that is there.
    case writes

    static let written = Data("the user's own words".utf8)
}

/// A piece of work of the cache that touches the file of an item, and what is there before.
enum HandedWork: String, Sendable, CaseIterable {
    case opensText, opensFilm, opensSeveral, opensAgain, adopts, stores, storesAnew, delivers, purges, repairs
    /// A newer version takes the place of what was opened.
    case updates
    /// Takes the file in as an item, and as a file of the user's that is there already.
    case migrates, merges

    static let key: ItemKey = "Doc.txt"
    static let content = noise(9000, seed: 5)
    static let newer = noise(8000, seed: 6)

    private static func metadata(_ key: ItemKey = key) -> ItemMetadata {
        ItemMetadata(key: key, destination: .documents(FileName(sanitizing: key.string), backup: .exclude))
    }

    private static func store(
        in engine: Engine, _ content: Data = content, _ encoding: ItemEncoding = .identity,
        _ key: ItemKey = key
    ) throws {
        try engine.store(content, as: metadata(key), encoding: .forced(encoding))
    }

    func prepare(_ engine: Engine, _ file: URL) throws {
        try file.deletingLastPathComponent().makeFolder()
        switch self {
        case .opensText: try Self.store(in: engine, Self.content, .lz4)
        case .opensFilm, .delivers: try Self.store(in: engine)
        case .opensSeveral:
            try Self.store(in: engine)
            try Self.store(in: engine, Self.newer, .lz4, "other")
        case .adopts:
            try Self.content.write(to: file)
            try Self.store(in: engine)
        case .opensAgain, .stores, .storesAnew, .updates, .purges, .repairs:
            try Self.store(in: engine)
            _ = try engine.open(Self.key)
        case .migrates, .merges: try Self.content.write(to: file)
        }
        if self == .merges {
            let twin = ItemMetadata(
                key: "twin", destination: .applicationSupport("Doc.txt", backup: .include))
            try engine.store(Self.content, as: twin)
            _ = try engine.open("twin")
        }
        if self == .delivers { _ = try engine.remove(Self.key) }
        if self == .repairs { try file.set(.include) }
    }

    func run(_ engine: Engine) throws {
        switch self {
        case .opensText, .opensFilm, .opensAgain, .adopts: _ = try engine.open(Self.key)
        case .opensSeveral: for result in engine.open([Self.key, "other"]) { _ = try result.get() }
        case .stores: try Self.store(in: engine, Self.newer)
        case .storesAnew, .delivers, .updates:
            var metadata = Self.metadata()
            if self != .storesAnew { metadata.intent = .userRequested }
            guard
                case .begun(let store) = try engine.beginStore(
                    metadata, encoding: .forced(.identity), expectedLength: 8000,
                    whenPromoted: self == .updates ? .replaceIfUnmodified : .storeAgain)
            else { return }
            try store.commit(appending: Self.newer)
        case .purges: _ = try engine.purgeExcluded(unusedSince: .max, isDryRun: false)
        case .repairs: _ = try engine.repair(isDryRun: false)
        case .migrates: try migrate(engine, as: .cached(to: .documents))
        case .merges: try migrate(engine, as: .promoted(to: .applicationSupport))
        }
    }

    var isMigration: Bool { self == .migrates || self == .merges }

    private func migrate(_ engine: Engine, as role: MigrationRequest.Role) throws {
        let request = MigrationRequest(of: engine.destinations.support.areas.documents, as: role)
        try Migrator(engine: engine, request: request, isDryRun: false).run { _ in }
    }
}

/// One run: a piece of work, and the user's hand before one of its calls.
struct HandedRun {
    let work: HandedWork
    let hand: Hand
    /// The number of the call.
    let moment: Int

    private final class Trace: Sendable {
        struct State {
            /// Whether there was a file, and of which inode, when the hand came.
            var found: UInt64?
            /// The inode of the file that the user has put there.
            var placed: UInt64?
            var operation = ""
        }
        let state = Mutex(State())
    }

    /// The hand before every call of a work in turn, or before some.
    ///
    /// - Returns: How many there were.
    static func expectNothingBroken(_ work: HandedWork, _ hand: Hand, every step: Int = 1) throws -> Int {
        var runs = 0
        for moment in step == 1 ? stride(from: 0, to: .max, by: 1) : TestRun.numbers(every: step) {
            guard let broken = try HandedRun(work: work, hand: hand, moment: moment).judge() else { break }
            #expect(broken == [])
            runs += 1
        }
        print("user's hand: \(work), \(hand): \(runs) moments")
        return runs
    }

    /// - Returns: What was broken; `nil` when the work has ended before the moment.
    func judge(_ weaknesses: Set<Weakness> = []) throws -> [String]? {
        let container = try TemporaryContainer(in: .fastTemporaryFolder)
        let file = container.documents.appending(path: HandedWork.key.string)
        // Where no migration comes by.
        let mine = container.root.appending(path: "mine")
        let fileSystem = InterceptingFileSystem(with: weaknesses)
        let engine = try container.engine(fileSystem: fileSystem)
        try work.prepare(engine, file)
        let (count, trace, hand, moment) = (CallCounter(), Trace(), hand, moment)
        let draft = container.root.appending(path: "draft")
        fileSystem.intercept { operation in
            guard count.next() == moment else { return }
            do {
                let found = try file.inode
                try hand.acts(on: file, mine: mine, draft: draft)
                let placed = try file.inode
                trace.state.withLock {
                    $0 = .init(found: found, placed: placed, operation: "\(operation)")
                }
            } catch {
                Issue.record(error)
            }
        }
        do {
            try work.run(engine)
        } catch let error as CacheError {
            #expect("\(error)" != "")
        }
        fileSystem.intercept { _ in }
        guard count.next() > moment else { return nil }
        let state = trace.state.withLock { $0 }
        guard state.operation != "" else { return ["the user could not act"] }
        // The next process, twice, whose user does nothing.
        for _ in 1...2 {
            let next = try container.engine(fileSystem: fileSystem)
            attempt { _ = try next.open(HandedWork.key) }
            _ = try next.repair(isDryRun: false)
            try next.close()
        }
        try engine.close()
        return try violations(container, file, mine, state).map {
            "\($0); \(work), the user \(hand) before call \(moment), \(state.operation)"
        }
    }

    private func violations(
        _ container: TemporaryContainer, _ file: URL, _ mine: URL, _ state: Trace.State
    ) throws -> [String] {
        var violations: [String] = []
        var paths: [String: URL] = [:]
        for folder in [container.documents, container.support.appending(path: "files")] {
            for name in try container.files(below: folder) where !name.hasPrefix(".") {
                let path = folder.appending(path: name)
                paths[folder == container.documents ? name : "files/\(name)"] = path
            }
        }
        if mine.exists { paths["mine"] = mine }
        let contents = try paths.mapValues { try Data(contentsOf: $0) }
        let known = [HandedWork.content, HandedWork.newer, Hand.written]
        for (name, content) in contents where !known.contains(content) {
            violations.append("\(name) is partial or foreign: \(content.count) bytes")
        }
        let content = work == .delivers ? HandedWork.newer : HandedWork.content
        let others = contents.filter { $0.key != "mine" }
        switch hand {
        case .replaces, .writes:
            let isWritten = hand == .replaces || state.found != nil
            if isWritten, !contents.values.contains(Hand.written) {
                violations.append("what the user wrote is gone: \(contents.keys.sorted())")
            }
        case .putsACopy:
            let inodes = try paths.values.map { try $0.inode }
            // A migration may take it in, like the one that was there.
            if work.isMigration ? !contents.values.contains(content) : !inodes.contains(state.placed) {
                violations.append("the user's copy is gone: \(contents.keys.sorted())")
            }
        case .movesAway, .deletes:
            guard state.found != nil else { break }
            if hand == .movesAway, contents["mine"] == nil {
                violations.append("what the user moved is gone")
            }
            // Before it is adopted, the file has nothing to do with the item; one to be merged has a twin.
            if work != .adopts, work != .merges, others.values.contains(content) {
                violations.append("what the user took away is back: \(others.keys.sorted())")
            }
        }
        if hand == .replaces || hand == .putsACopy {
            for (name, path) in paths {
                guard try path.inode == state.placed, try path.backupPolicy == .exclude else { continue }
                violations.append("the user's \(name) is marked")
            }
        }
        let staged = try container.staged()
        if !staged.isEmpty { violations.append("left in staging: \(staged)") }
        return violations
    }
}

extension Hand {
    func acts(on file: URL, mine: URL, draft: URL) throws {
        let manager = FileManager.default
        let isThere = manager.fileExists(atPath: file.path)
        switch self {
        case .deletes: if isThere { try manager.removeItem(at: file) }
        case .movesAway: if isThere { try manager.moveItem(at: file, to: mine) }
        case .replaces, .putsACopy:
            try (self == .replaces ? Self.written : HandedWork.content).write(to: draft)
            guard rename(draft.path, file.path) == 0 else { throw CocoaError(.fileWriteUnknown) }
        case .writes:
            guard isThere else { return }
            let handle = try FileHandle(forWritingTo: file)
            try handle.truncate(atOffset: 0)
            try handle.write(contentsOf: Self.written)
            try handle.close()
        }
    }
}
