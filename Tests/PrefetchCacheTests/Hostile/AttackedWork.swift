import FileSystemTestSupport
import Foundation
import PrefetchFileSystem
import SystemPackage
import Testing

@testable import PrefetchCaching

/// Everything that a cache does, on a container that somebody attacks meanwhile: what fails does not keep the rest
/// from being tried.
final class AttackedWork {
    static let text = prose(9000)
    static let film = noise(20_000)
    /// More than a chunk, so that something of it is kept.
    private static let broken = noise(1_200_000)

    /// One thing that was wanted of the cache.
    struct Step {
        enum Kind {
            case storing, promoting, reading, other
        }

        enum Outcome: Equatable {
            /// What was wanted: stored, handed over, found.
            case done
            /// Handed over before, or done without anything to do.
            case known
            case refused, missed
            case failed(String)
        }

        let name: String
        let kind: Kind
        /// Whether the item that it is about was stored before, and neither opened nor removed since.
        let isCached: Bool
        let outcome: Outcome
        /// The call that failed first, when it had failed before the step.
        let failedBefore: FileSystemTestSupport.Operation?
        /// The same, when it failed in the step.
        let failedWithin: FileSystemTestSupport.Operation?
    }

    let container: TemporaryContainer
    /// The call that was the first to fail, if any has.
    private let failure: () -> FileSystemTestSupport.Operation?
    private(set) var steps: [Step] = []
    /// What was served that is not what was stored.
    private(set) var wrongAnswers: [String] = []
    /// What was handed over, and shall stay whatever happens.
    private(set) var handedOver: [FilePath: Data] = [:]
    private var cached: Set<ItemKey> = []

    /// What did not work.
    var failures: [String] {
        steps.compactMap { step in
            if case .failed(let error) = step.outcome { "\(step.name): \(error)" } else { nil }
        }
    }

    init(
        _ container: TemporaryContainer,
        failure: @escaping () -> FileSystemTestSupport.Operation? = { nil }
    ) {
        self.container = container
        self.failure = failure
    }

    func run(on fileSystem: any FileSystem) {
        if let engine = opened(on: fileSystem) {
            store(in: engine)
            read(in: engine)
            promote(in: engine)
            manage(engine)
            attempt("close") { try engine.close() }
        }
        // A catalog that is lost is made anew from the items.
        attempt("lose the catalog") { _ = unlink(container.catalog.path) }
        guard let engine = opened(on: fileSystem) else { return }
        attempt("rebuild") { _ = try engine.items() }
        read("stays", Self.text, in: engine)
        attempt("close again") { try engine.close() }
    }

    private func opened(on fileSystem: any FileSystem) -> Engine? {
        var engine: Engine?
        attempt("open the cache") { engine = try container.engine(fileSystem: fileSystem) }
        return engine
    }

    private func store(in engine: Engine) {
        store("text") { try engine.store(Self.text, "text") }
        store("film") { try engine.store(Self.film, "film", in: "Films") }
        store("hidden") { try engine.store(Self.film, "hidden", to: .applicationSupport) }
        for key in ["stays", "damaged", "one", "two"] as [ItemKey] {
            store(key) { try engine.store(Self.text, key) }
        }
        attempt("flush") { try engine.flush() }
        attempt("keep a partial") { try Self.keepAPartial(engine) }
    }

    private func read(in engine: Engine) {
        // What was opened is its user's: whoever exchanges that file has changed it.
        read("stays", Self.text, in: engine)
        let range: Range<Int64> = 100..<5000
        read("stays", "range", Self.text[100..<5000]) { try engine.read("stays", range).value }
        read("stays", "stream", Self.text) {
            var received = Data()
            let found = try engine.stream("stays", nil) { received.append(contentsOf: $0) }
            return found.value == nil ? nil : received
        }
        attempt("damage an item") { try Self.damage(container.item("damaged")) }
        cached.remove("damaged")
        read("damaged", Self.text, in: engine)
    }

    private func promote(in engine: Engine) {
        open("text", Self.text) { try engine.open("text") }
        open("film", Self.film) { try engine.open("film") }
        open("hidden", Self.film) { try engine.open("hidden") }
        openSeveral(in: engine)
        attempt("deliver", .promoting, "asked") {
            switch try engine.store(Self.text, "asked", in: "Asked", intent: .userRequested) {
            case .delivered(let file):
                handedOver[file.path] = Self.text
                return .done
            case .refused(.alreadyPromoted): return .known
            case .stored, .refused: return .refused
            }
        }
    }

    private func manage(_ engine: Engine) {
        attempt("verify", .other) {
            let report = try engine.verified()
            return report.unreadable == 0 ? .done : .failed("\(report.findings)")
        }
        attempt("repair", .other) {
            let report = try engine.repair(isDryRun: false)
            return report.failures.isEmpty ? .done : .failed("\(report.failures)")
        }
        attempt("configure") { try engine.configure(.fixed(.mebibytes(8))) }
        attempt("remove") { _ = try engine.remove("stays") }
        cached.remove("stays")
        store("stays") { try engine.store(Self.text, "stays") }
        attempt("evict") { _ = try engine.evict(1) }
        cached = []
        attempt("maintain") { try engine.maintain() }
        attempt("forget") { _ = try engine.forget("text") }
    }

    private static func keepAPartial(_ engine: Engine) throws {
        guard
            case .begun(let store) = try engine.beginStore(
                ItemMetadata("partial"), encoding: .forced(.identity), expectedLength: nil,
                keepingPartial: true)
        else { return }
        guard try store.offer(broken) == nil else { return }
        _ = try store.suspend()
        guard let partial = try engine.partial(of: "partial"),
            case .begun(let resumed) = try engine.resume(partial, replay: { _ in })
        else { return }
        _ = try resumed.commit()
    }

    /// As a disk does: in the place of the file, which may be anybody's by now.
    private static func damage(_ file: URL) throws {
        guard var content = FileManager.default.contents(atPath: file.path), content.count > 84 else {
            return
        }
        for index in 20..<84 { content[index] ^= 0xFF }
        try content.write(to: file, options: .atomic)
    }

    // MARK: Steps

    private func store(_ key: ItemKey, _ body: () throws -> StoreOutcome) {
        attempt("store", .storing, key) {
            switch try body() {
            case .stored, .delivered: return .done
            case .refused(.alreadyPromoted): return .known
            case .refused: return .refused
            }
        }
        if steps.last?.outcome == .done { cached.insert(key) }
    }

    private func read(_ key: ItemKey, _ content: Data, in engine: Engine) {
        read(key, "read", content) { try engine.content(key) }
    }

    /// An answer may be missing, but not another one.
    private func read(_ key: ItemKey, _ name: String, _ content: Data, _ body: () throws -> Data?) {
        attempt(name, .reading, key) {
            guard let answer = try body() else { return .missed }
            if answer != content { wrongAnswers.append("\(key)") }
            return .done
        }
    }

    private func open(_ key: ItemKey, _ content: Data, _ body: () throws -> Lookup<PromotedFile>) {
        attempt("open", .promoting, key) {
            guard let file = try body().value else { return .missed }
            handedOver[file.path] = content
            return file.isFirstOpen ? .done : .known
        }
        cached.remove(key)
    }

    /// As good as its worst part: each item has to be handed over, or its error told.
    private func openSeveral(in engine: Engine) {
        attempt("open several", .promoting) {
            var outcome = Step.Outcome.done
            for result in engine.open(["one", "two"]) {
                guard let file = try result.get().value else {
                    outcome = .missed
                    continue
                }
                handedOver[file.path] = Self.text
                if !file.isFirstOpen { outcome = .known }
            }
            return outcome
        }
        cached.subtract(["one", "two"])
    }

    private func attempt(_ name: String, _ body: () throws -> Void) {
        attempt(name, .other) {
            try body()
            return .done
        }
    }

    private func attempt(
        _ name: String, _ kind: Step.Kind, _ key: ItemKey? = nil, _ body: () throws -> Step.Outcome
    ) {
        let before = failure()
        let isCached = key.map(cached.contains) ?? false
        var outcome = Step.Outcome.done
        do {
            outcome = try body()
        } catch let error as CacheError {
            outcome = .failed("\(error)")
        } catch let error as FileSystemError {
            outcome = .failed("\(error)")
        } catch let error as CocoaError where error.code == .fileWriteOutOfSpace {
            // What damages an item needs room, too.
            outcome = .failed("\(error)")
        } catch {
            Issue.record(error)
        }
        steps.append(
            Step(
                name: key.map { "\(name) \($0)" } ?? name, kind: kind, isCached: isCached, outcome: outcome,
                failedBefore: before, failedWithin: before == nil ? failure() : nil))
    }
}
