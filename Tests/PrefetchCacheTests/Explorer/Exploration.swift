import FileSystemTestSupport
import Foundation
import PrefetchFileSystem
import Synchronization
import SystemPackage
import Testing

@testable import PrefetchCaching

/// Calls of several processes that overlap, and what is there before.
struct Exploration: Sendable, Hashable, CustomStringConvertible {
    enum Start: String, Sendable, CaseIterable {
        case absent, cached, opened
        /// The first of two keys is opened, and the second only cached.
        case openedFirst
        /// All were opened, and their user has deleted the files.
        case lost
    }

    /// What the key of the second call has to do with that of the first.
    enum Relation: String, Sendable, CaseIterable {
        case sameKey, sameContent, sameName
    }

    let start: Start
    let relation: Relation
    /// Whether what is there before is text, which is decoded when it is opened; what is not is renamed.
    var isText = false
    /// The first call is stopped; the others are made meanwhile.
    let calls: [ExploredCall]

    var description: String {
        "\(calls.map(\.rawValue).joined(separator: " beside ")), \(start), \(relation)\(isText ? ", text" : "")"
    }

    var steps: [ExploredStep] {
        zip(["A", "B", "C"], calls).map { name, call in
            let isFirst = name == "A" || relation == .sameKey
            return ExploredStep(
                call: call, name: name, key: isFirst ? ExploredContainer.key : ExploredContainer.other)
        }
    }

    /// How calls ended, by the names of their processes, and what is there then.
    struct Result: Hashable, Sendable, CustomStringConvertible {
        var outcomes: [String: String]
        var holdings: [String]

        var description: String {
            let outcomes = outcomes.sorted { $0.key < $1.key }.map { "\($0): \($1)" }
            return (outcomes + holdings).map { "    \($0)\n" }.joined()
        }

        /// As if what has the second name had the first, which nothing has.
        var renumbered: Result {
            if holdings.contains(where: { $0.hasPrefix("Documents/Doc.txt:") }) { return self }
            func renumbered(_ text: String) -> String {
                text.replacingOccurrences(of: "Doc (2).txt", with: "Doc.txt")
            }
            return Result(
                outcomes: outcomes.mapValues(renumbered), holdings: holdings.map(renumbered).sorted())
        }

        /// As if a file that has the content of the first, under the second name, were the first.
        var merged: Result {
            let (first, second) = ("Documents/Doc.txt: ", "Documents/Doc (2).txt: ")
            guard let copy = holdings.first(where: { $0.hasPrefix(second) }),
                holdings.contains(first + copy.dropFirst(second.count))
            else { return self }
            let (own, adopted) = (" was opened: Doc (2).txt written", " was opened: Doc.txt adopted")
            let others = holdings.filter { $0 != copy && !$0.hasPrefix(first) }
            return Result(
                outcomes: outcomes, holdings: others.map { $0.replacingOccurrences(of: own, with: adopted) }
            )
            .renumbered.adding(first + copy.dropFirst(second.count))
        }

        private func adding(_ holding: String) -> Result {
            Result(outcomes: outcomes, holdings: (holdings + [holding]).sorted())
        }

        /// The processes that gave up waiting for another one.
        var busy: [String] {
            outcomes.filter { ["threw busy", "threw overtaken"].contains($0.value) }.map(\.key).sorted()
        }
    }

    /// What there is before the first call.
    func prepare() throws -> ExploredContainer {
        let container = try ExploredContainer()
        let engine = try container.process().engine
        func store(_ content: String, _ key: ItemKey) throws {
            try engine.store(ExploredContent.small(content), as: ExploredContent.metadata(key))
        }
        let documents = container.opened.deletingLastPathComponent()
        try documents.makeFolder()
        try ExploredContent.small("mine").write(to: documents.appending(path: "mine.txt"))
        try store("bystander", "bystander.txt")
        let old = isText ? "old text" : "old"
        var keys = [(ExploredContainer.key, old)]
        if relation != .sameKey {
            keys.append((ExploredContainer.other, relation == .sameContent ? old : "other"))
        }
        if start != .absent {
            for (key, content) in keys {
                try store(content, key)
                if [.opened, .lost].contains(start) || start == .openedFirst && key == ExploredContainer.key {
                    _ = try engine.open(key)
                }
            }
        }
        if start == .lost {
            // Two keys share the file of one content.
            for name in ["Doc.txt", "Doc (2).txt"].prefix(relation == .sameName ? 2 : 1) {
                try documents.appending(path: name).remove()
            }
        }
        for step in steps {
            if step.call == .storeFile {
                try ExploredContent.handed(step.name).write(to: container.handed(step.name))
            }
            if step.call == .migrate {
                let folder = URL(filePath: container.old(step.name).string)
                try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
                try ExploredContent.small("migrated \(step.name)").write(
                    to: folder.appending(path: step.key.string))
            }
        }
        try engine.close()
        return container
    }

    /// Makes the calls one after the other.
    func inTurn(_ steps: [ExploredStep]) throws -> Result {
        let container = try prepare()
        let processes = try self.steps.map { _ in try container.process() }
        var outcomes: [String: String] = [:]
        for step in steps {
            outcomes[step.name] = step.run(
                processes[try #require(self.steps.firstIndex { $0.name == step.name })])
        }
        for process in processes { try process.engine.close() }
        return Result(outcomes: outcomes, holdings: try container.holdings())
    }

    /// All that may come of the calls if each is made at one moment, without those of `absent`. What is called while the first
    /// process is stopped comes in its order.
    ///
    /// A delivery whose file its user has deleted begins with a new record, and then takes the name that is free.
    func expected(without absent: [String] = []) throws -> Set<Result> {
        let steps = steps.filter { !absent.contains($0.name) }
        guard let first = steps.first, first.name == "A" else { return [try inTurn(steps)] }
        let others = steps.dropFirst()
        var orders = (0...others.count).map { others.prefix($0) + [first] + others.dropFirst($0) }
        if start == .lost, first.call == .deliver {
            let forgets = ExploredStep(call: .forget, name: first.name, key: first.key)
            orders += orders.map { [forgets] + $0 }
        }
        return Set(try orders.map { try inTurn(Array($0)) })
    }

    /// A call on the file system, or a write of SQLite's.
    struct Step: Sendable, CustomStringConvertible {
        /// `nil` for a write of SQLite's.
        let operation: FileSystemTestSupport.Operation?
        var kind: FileSystemTestSupport.Operation.Kind? { operation?.kind }
        var description: String { operation.map { "\($0)" } ?? "SQLite writes" }

        /// Whether it gives a file the name of the opened one.
        var publishesOpened: Bool { kind == .rename && operation?.newName == "Doc.txt" }

        /// Whether it takes the name of the opened file away.
        var removesOpened: Bool { operation?.name == "Doc.txt" && [.rename, .unlink].contains(kind) }
    }

    /// The operations that are worth a stop before them: what another process does before the others, it does as well before
    /// the next of these.
    static func stops(_ operations: [Step]) -> [Int] {
        operations.indices.filter { index in
            switch operations[index].kind {
            case .synchronize, .access, .hole, .noDump, .extendedAttribute, .volume, .setPermissions,
                .allocate:
                false
            case nil:
                // Of those in a row the first and the last.
                [index - 1, index + 1].contains {
                    !operations.indices.contains($0) || operations[$0].kind != nil
                }
            default: true
            }
        }
    }

    /// When other calls are made.
    struct Schedule: Sendable, Hashable, CustomStringConvertible {
        var description: String {
            stops.sorted { $0.key < $1.key }.map { "\($0.value.joined()) before \($0.key)" }.joined(
                separator: ", ")
                + (dies ? ", then it dies" : "")
        }

        /// The names of the processes that make their calls before an operation of the first.
        var stops: [Int: [String]] = [:]
        /// Whether the first process dies then.
        var dies = false
    }

    /// Makes the first call, which is stopped before some of its operations, where the others are made.
    ///
    /// - Returns: What came of it, and the operations of the first call.
    func overlapping(_ schedule: Schedule = Schedule(), _ weaknesses: Set<Weakness> = [])
        throws -> (result: Result, operations: [Step])
    {
        let container = try prepare()
        let fileSystem = InterceptingFileSystem(with: weaknesses)
        let first = try container.process(fileSystem)
        let others = try Dictionary(
            uniqueKeysWithValues: steps.dropFirst().map { ($0.name, (try container.process(), $0)) })
        let trace = Mutex<(operations: [Step], outcomes: [String: String], isInside: Bool)>(([], [:], false))
        @Sendable func stop(_ operation: Step) {
            let names: [String]? = trace.withLock { trace in
                guard !trace.isInside else { return nil }
                trace.operations.append(operation)
                trace.isInside = true
                return schedule.stops[trace.operations.count - 1] ?? []
            }
            guard let names else { return }
            for name in names {
                guard let (process, step) = others[name] else { continue }
                let outcome = step.run(process)
                trace.withLock { $0.outcomes[name] = outcome }
            }
            trace.withLock { $0.isInside = false }
            if schedule.dies, !names.isEmpty { fileSystem.die() }
        }
        fileSystem.intercept { stop(Step(operation: $0)) }
        let outcome = try SQLiteFaults.watchingWrites({ stop(Step(operation: nil)) }) { steps[0].run(first) }
        fileSystem.intercept { _ in }
        // What one call has done may leave fewer operations to the first.
        for name in schedule.stops.values.flatMap(\.self).sorted()
        where trace.withLock({ $0.outcomes[name] == nil }) {
            guard let (process, step) = others[name] else { continue }
            let outcome = step.run(process)
            trace.withLock { $0.outcomes[name] = outcome }
        }
        let operations = trace.withLock { $0.operations }
        var outcomes = trace.withLock { $0.outcomes }
        outcomes["A"] = outcome
        do { try first.engine.close() } catch { if !schedule.dies { throw error } }
        for (process, _) in others.values { try process.engine.close() }
        if schedule.dies {
            outcomes["A"] = nil
            // Recovery, as of the next launch.
            let next = try container.process()
            _ = try next.engine.repair(isDryRun: false)
            try next.engine.close()
        }
        return (Result(outcomes: outcomes, holdings: try container.holdings()), operations)
    }
}

/// Whether what came of overlapping calls could have come of the same calls made one after the other.
final class ExplorationJudge {
    private let exploration: Exploration
    private var expected: [[String]: Set<Exploration.Result>] = [:]

    init(_ exploration: Exploration) { self.exploration = exploration }

    private func expected(without absent: [String] = []) throws -> Set<Exploration.Result> {
        if let known = expected[absent] { return known }
        let results = try exploration.expected(without: absent)
        expected[absent] = results
        return results
    }

    /// - Parameter steps: Those of the first call, as far as it came.
    /// - Returns: `nil` if it could; otherwise what it was and what it could have been.
    func violation(
        _ result: Exploration.Result, of schedule: Exploration.Schedule, _ steps: [Exploration.Step]
    ) throws -> String? {
        let calls = Dictionary(uniqueKeysWithValues: exploration.steps.map { ($0.name, $0.call) })
        // What a program saves after the first call has looked must survive, although in turn it would have been removed.
        for (stop, names) in schedule.stops where stop < steps.count && steps[stop].removesOpened {
            let lost = names.first { name in
                calls[name] == .userSaves
                    && !result.holdings.contains { $0.hasSuffix(": user \(name)") }
            }
            if lost != nil { return "\(exploration), \(schedule): what was saved is gone\n\(result)" }
        }
        // Gave up before its record was written, and goes on when it is called again. Nothing else may be wrong.
        let absent = result.busy + (schedule.dies ? ["A"] : [])
        if absent.contains(where: { [.delete, .purge].contains(calls[$0]) }) {
            return result.holdings.contains { $0.hasPrefix("WRONG") } ? "\(result)" : nil
        }
        // A migration is a store, of which the later one stays, and removes no original whose item it does not find, nor
        // before it is stored.
        let kept = calls.filter { name, call in
            call == .migrate
                && (result.outcomes[name]?.contains("left") == true || schedule.dies && name == "A")
                && result.holdings.contains { $0.hasPrefix("old-\(name)/") }
        }.map(\.key)
        // One that was to replace what is opened, and whose item is opened only meanwhile, leaves that as it is, and so does a
        // purge what has replaced, or was opened after, the one that it has listed.
        let isRemoved = calls.values.contains { [.delete, .purge].contains($0) }
        let isReplaced = calls.values.contains { [.replace, .storeAgain].contains($0) }
        let left = calls.filter { name, call in
            result.outcomes[name] == "refused alreadyPromoted" && (call == .replace || isRemoved)
                || call == .purge && result.outcomes[name] == "purged false" && isReplaced
        }.map(\.key)
        // What is in use is not evicted.
        let evictions = calls.filter { name, call in
            call.evicts && ["evicted", "trimmed"].contains(result.outcomes[name])
        }.map(\.key)
        // All of these have made their calls, or have not.
        var possible: Set<Exploration.Result> = []
        let optional = Set(absent + left + kept + evictions).sorted()
        for choice in 0..<1 << optional.count {
            let names = optional.indices.filter { choice & 1 << $0 != 0 }.map { optional[$0] }
            possible.formUnion(try expected(without: names))
        }
        // A purge looks at one file after the other, also at those opened meanwhile, but not at what is being opened.
        let purges =
            exploration.relation != .sameKey ? exploration.steps.filter { $0.call == .purge } : []
        if !purges.isEmpty {
            possible.insert(try exploration.inTurn(exploration.steps + purges))
            possible.insert(
                try exploration.inTurn(
                    exploration.steps.map { step in
                        guard step.call == .purge else { return step }
                        return ExploredStep(call: .delete, name: step.name, key: step.key)
                    }))
        }
        // A process that dies while it stores a file leaves a partial, and has dropped the record of one that is gone.
        let isPartial = schedule.dies && calls["A"] == .storeFile
        // Content that moves from the cache to its user while it is read may be missed, what its user has just moved or
        // replaced counts as not deleted, and what is opened or stored again as not removed. An open that has died may be
        // completed although the item was removed before. What is stored again can be read before the record is dropped
        // without which it stays.
        let ignored =
            calls.filter { name, call in
                call == .read && result.outcomes[name] == "miss absent"
                    || result.outcomes[name] == "threw movedOrDeleted" && isRemoved
                    || call == .read && result.outcomes[name] == "A" && schedule.dies
                        && (calls["A"] == .storeAgain || exploration.start == .lost)
                    || call == .forget && result.outcomes[name] == "forgot false" && isPartial
                    || call == .delete && result.outcomes[name] == "deleted false"
                    || call == .remove && result.outcomes[name] == "removed false"
                    || call == .purge && (!purges.isEmpty || calls.values.filter { $0 == .purge }.count > 1)
                    || schedule.dies && (name == "A" || call == .remove)
            }.keys + result.busy + left + kept + evictions
        let storesTwice = calls.values.contains(.migrate) && calls.values.filter(\.stores).count > 1
        let isSpared = isReplaced && calls.values.contains(.purge)
        let mayLeave = storesTwice || calls.values.contains(where: \.evicts)
        // What its user saves, moves or deletes before it is recorded is theirs alone.
        let isTaken =
            schedule.dies
            && schedule.stops.contains { stop, names in
                names.contains { result.outcomes[$0] == "done" }
                    && steps[..<stop].contains(where: \.publishesOpened)
            }
        func judged(_ result: Exploration.Result) -> Exploration.Result {
            var result = result
            for name in ignored { result.outcomes[name] = nil }
            // What is in use is not evicted.
            if mayLeave { result.holdings.removeAll { $0.contains(" is cached: ") && !$0.contains("torn") } }
            // A purge asks for each file in turn what it has listed.
            if isSpared {
                for outcome in result.outcomes.values where outcome.hasPrefix("delivered ") {
                    let name = outcome.dropFirst("delivered ".count)
                    result.holdings.removeAll {
                        $0.hasPrefix("Documents/\(name): ") || $0.hasSuffix(" was opened: \(name) written")
                    }
                }
            }
            for name in kept { result.holdings.removeAll { $0.hasPrefix("old-\(name)/") } }
            if isTaken {
                result.holdings.removeAll {
                    $0.hasPrefix("Doc.txt was opened: ") || $0.hasPrefix("Doc.txt is cached: ")
                }
            }
            if isPartial {
                result.holdings.removeAll {
                    $0.hasPrefix("handed-A") || $0.contains("/incoming/")
                        || exploration.start == .lost && $0.hasPrefix("Doc.txt was opened: ")
                }
            }
            return result
        }
        var found = [result]
        // Until its record has gone, the name of what is being removed is not free.
        if isRemoved, exploration.relation != .sameKey { found.append(result.renumbered) }
        // A file whose key is being worked on is not adopted.
        if exploration.relation == .sameContent { found.append(result.merged) }
        if possible.contains(where: { found.map(judged).contains(judged($0)) }) { return nil }
        return "\(exploration), \(schedule):\n\(result)  rather than\n"
            + possible.map { "\($0)" }.joined(separator: "  or\n")
    }
}
