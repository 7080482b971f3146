import FileSystemTestSupport
import Foundation
import Testing

@testable import PrefetchCaching

/// A day on which three processes use one cache, chosen at random, and the model that follows it.
///
/// The figures are exact but for what the documentation names, in "What survives what". So that exactly that is allowed
/// for, the day keeps book of what each process may not have noted yet (``Unnoted``):
///
/// - Before another process touches an item, or its file is touched behind the cache's back, the first one notes what it
///   did with it: otherwise the reason of its end may be another's. Two that store under one key need not.
/// - When a process has died, whoever follows it may find what others have just stored, so they note that before they
///   touch it again: otherwise it may be counted twice.
/// - A process is killed with anything unnoted that the next one finds (a store, an open), and with further reads,
///   refusals and opens of the user's files, of which the model then allows for fewer. What would change the fate of an
///   item, its first read for instance, is noted before.
/// - Before everything is purged, everything is noted; afterwards the cache is used once before anything is stored.
struct RandomDay {
    private(set) var model = ModelledFigures()
    private let container: TemporaryContainer
    private var processes: [StressProcess] = []
    private var unnoted = [Unnoted](repeating: Unnoted(), count: 3)
    private var generator: SeededGenerator
    private var time: Int64 = 20_000 * HistoryDay.milliseconds
    private var contents = 0
    private var log: [String] = []

    private static let keys = (0..<48).map { "key\($0)" }
    private static let sources = ["feed", "server", "atlas", "letters"]
    private static let budget: Int64 = 64 << 20

    /// What a process may not have noted yet.
    private struct Unnoted {
        enum Act { case stored, opened, readFirst, readAgain, removed }
        var acts: [String: [Act]] = [:]
        /// What is counted at once, and saved later.
        var counts: [(count: Int64, metric: PrefetchFigures.Metric, source: String)] = []
        /// Whether a process has died since, so that another one may have found what this one stored.
        var mayBeFound = false

        /// Whether the next process finds all that this one did to its items, or it does not matter to them.
        var isFoundByOthers: Bool {
            acts.values.allSatisfy { acts in
                let others = acts.filter { $0 != .readAgain }
                return others.isEmpty || acts == [.stored] || others == [.opened]
            }
        }
    }

    init(seed: UInt64) throws {
        generator = SeededGenerator(seed: seed)
        container = try TemporaryContainer(in: .fastTemporaryFolder, budget: .bytes(Self.budget))
        for _ in 0..<3 { processes.append(try StressProcess.following(in: container, at: time)) }
    }

    // MARK: The day

    mutating func step() throws {
        try advance()
        let process = random(3)
        switch random(100) {
        case 0..<32: try store(on: process)
        case 32..<44: try open(anyKey(), on: process)
        case 44..<66: try read(anyKey(), on: process)
        case 66..<69: try deliver(on: process)
        case 69..<73: try remove(on: process)
        case 73..<76: try refuse(on: process)
        case 76..<78: try evict(on: process, "evict \(random(200_000))", because: .request)
        case 78..<80: try squeeze(on: process)
        case 80: try runShort(on: process)
        case 81..<87: try spoil()
        case 87: try purge()
        case 88..<93: try kill(process)
        default: try flush(process)
        }
    }

    /// Lets some minutes pass: 200 steps make a day.
    private mutating func advance() throws {
        let next = time + Int64(random(14 * 60_000))
        // From then on any process may evict what has expired.
        if model.items.values.contains(where: { $0.hasExpired(at: next) && !$0.hasExpired(at: time) }) {
            try flushAll()
        }
        time = next
        for process in processes { try process.tell("time \(time)") }
        try findGone(because: nil)
    }

    private mutating func store(on process: Int) throws {
        let key = anyKey()
        let others = unnoted.indices.filter { $0 != process && unnoted[$0].acts[key] == [.stored] }
        if let other = others.first, !unnoted[other].mayBeFound,
            model.items[key]?.hasExpired(at: time) == false, random(2) == 0
        {
            // Which of the two notes it first makes no difference.
            _ = try store(key, on: process)
            for process in [process, other].shuffled(using: &generator) { try flush(process) }
        } else {
            try prepareToReplace(key, on: process)
            let isOldOneToExpire = model.items[key]?.expiresAt != nil
            _ = try store(key, on: process)
            // Until it is noted, others know the old one, and evict the file when that expires.
            if isOldOneToExpire { try flush(process) }
        }
    }

    /// - Returns: Why it was refused.
    private mutating func store(
        _ key: String, length: Int? = nil, priority: Float? = nil, isRequested: Bool = false, on process: Int
    ) throws -> String? {
        let source = anySource()
        let length = length ?? Int.random(in: 200...60_000, using: &generator)
        contents += 1
        let expiry = random(4) == 0 && !isRequested ? time + Int64(random(4 * 3_600_000)) + 1 : 0
        let priority = priority ?? [0.5, 1][random(2)]
        let answer = try tell(
            process,
            "\(isRequested ? "deliver" : "store") \(key) \(source) \(length) \(contents) \(priority) \(expiry)"
        ).split(separator: " ").map(String.init)
        switch answer.first {
        case "stored":
            model.store(
                key,
                ModelledFigures.Item(
                    source: source, bytes: Int64(length), expiresAt: expiry > 0 ? expiry : nil))
            note(.stored, key, process)
        case "delivered":
            model.deliver(key, from: source, bytes: Int64(length))
            unnoted[process].counts += [(1, .delivered, source), (Int64(length), .deliveredBytes, source)]
        default:
            let metric = try #require(Refusal.reasons.first { $0.reason == answer.last }?.metric)
            model.add(to: metric, of: source)
            unnoted[process].counts.append((1, metric, source))
            return answer.last
        }
        return nil
    }

    /// What the user asks for goes straight to its place.
    private mutating func deliver(on process: Int) throws {
        let key = Self.keys[random(Self.keys.count)]
        // Otherwise the cached copy would be in its way.
        guard model.items[key] == nil else { return }
        try touch(key, on: process)
        _ = try store(key, length: random(30_000) + 200, isRequested: true, on: process)
    }

    private mutating func open(_ key: String, on process: Int) throws {
        try touch(key, on: process)
        switch try tell(process, "open \(key)") {
        case "first":
            model.open(key)
            note(.opened, key, process)
        case "again": try reopen(key, process)
        default: try miss(key, process)
        }
    }

    private mutating func read(_ key: String, on process: Int) throws {
        try touch(key, on: process)
        guard try tell(process, "read \(key)") != "missed" else { return try miss(key, process) }
        guard let item = model.items[key] else { return try reopen(key, process) }
        note(item.isUsed ? .readAgain : .readFirst, key, process)
        model.read(key)
    }

    private mutating func reopen(_ key: String, _ process: Int) throws {
        let source = try #require(model.promoted[key])
        model.add(to: .reopened, of: source)
        unnoted[process].counts.append((1, .reopened, source))
    }

    private mutating func miss(_ key: String, _ process: Int) throws {
        model.miss(key, at: time)
        // Two misses that are noted together have one source.
        try flush(process)
    }

    private mutating func remove(on process: Int) throws {
        let key = anyKey()
        try prepareToReplace(key, on: process)
        if try tell(process, "remove \(key)") == "removed" { model.leave(key, because: .removed) }
        // That it was absent is noted as well.
        note(.removed, key, process)
    }

    /// Stores that are not possible.
    private mutating func refuse(on process: Int) throws {
        let key = anyKey()
        try prepareToReplace(key, on: process)
        let reason: String?
        switch random(3) {
        case 0:
            try tell(process, "largest 20000")
            reason = try store(key, length: 90_000, on: process)
            try tell(process, "largest \(Self.budget)")
        case 1:
            try tell(process, "storing off")
            reason = try store(key, on: process)
            try tell(process, "storing on")
        default:
            // All there is has a higher priority, and leaves no room.
            try trimAll()
            let used = try #require(Int64(tell(process, "used").split(separator: " ").last ?? ""))
            try flushAll()
            try tell(process, "budget \(max(used + 8192, 400_000))")
            reason = try store(key, length: 399_000, priority: 0, on: process)
            try tell(process, "budget \(Self.budget)")
            try findGone(because: .budget)
        }
        #expect(reason != nil, "nothing was refused")
    }

    /// Evicts what `line` asks for.
    private mutating func evict(on process: Int, _ line: String, because reason: Departure) throws {
        try flushAll()
        try tell(process, line)
        try findGone(because: reason)
    }

    private mutating func squeeze(on process: Int) throws {
        try trimAll()
        let used = try #require(Int64(tell(process, "used").split(separator: " ").last ?? ""))
        try evict(on: process, "budget \(used - Int64(random(300_000)))", because: .budget)
        try tell(process, "budget \(Self.budget)")
        try tell(process, "trim")
        try findGone(because: .budget)
    }

    /// The volume runs short of space, for one process.
    private mutating func runShort(on process: Int) throws {
        try flushAll()
        try tell(process, "volume \(100 << 20)")
        try evict(on: process, "trim", because: .pressure)
        let reason = try store("refused", on: process)
        #expect(reason == "pressure")
        try tell(process, "volume \(1 << 39)")
        try tell(process, "trim")
        try findGone(because: .pressure)
    }

    /// Takes the file of an item away behind the cache's back, or damages it.
    private mutating func spoil() throws {
        let time = time
        let keys = model.items.filter { $1.isSpoilt == nil && !$1.hasExpired(at: time) }.keys.sorted()
        guard let key = keys.randomElement(using: &generator) else { return }
        let writers = unnoted.indices.filter { unnoted[$0].acts[key] != nil }
        let file = container.item(try ItemKey(key))
        log.append("spoil \(key)")
        if random(3) > 0 {
            try file.remove()
            model.items[key]?.isSpoilt = .purged
            // An item that has no row yet leaves when it would get one.
            for process in writers { try flush(process) }
            if try !writers.isEmpty && !isListed(key) { model.leave(key, because: .purged) }
        } else {
            for process in writers { try flush(process) }
            var bytes = try Data(contentsOf: file)
            bytes[bytes.count / 4] ^= 0x10
            try bytes.write(to: file)
            model.items[key]?.isSpoilt = .damaged
        }
    }

    private mutating func purge() throws {
        try settle()
        log.append("purge")
        try removeCaches()
        model.purge()
        try tell(random(3), "trim")
    }

    /// A process that maintains the cache just then may add to a folder that is being removed.
    private func removeCaches() throws {
        for _ in 0..<1000 where container.caches.exists {
            do {
                try container.caches.remove()
            } catch {
                continue
            }
        }
        try #require(!container.caches.exists)
    }

    private mutating func kill(_ process: Int) throws {
        try findSpoilt(on: (process + 1) % 3)
        for other in unnoted.indices where !unnoted[other].isFoundByOthers { try flush(other) }
        // Who dies while it evicts has removed a file and not told why.
        try tell((process + 1) % 3, "trim")
        try findGone(because: nil)
        log.append("\(process) kill")
        processes[process].kill()
        for (count, metric, source) in unnoted[process].counts { model.mayLose(count, metric, of: source) }
        for (key, acts) in unnoted[process].acts {
            for act in acts where act == .readAgain {
                // The item may have been opened since.
                let source = model.items[key]?.source ?? model.promoted[key] ?? ""
                model.mayLose(1, .read, of: source)
            }
        }
        unnoted[process] = Unnoted()
        for other in unnoted.indices { unnoted[other].mayBeFound = true }
        processes[process] = try StressProcess.following(in: container, at: time)
        try tell(process, "trim")
    }

    // MARK: What makes the figures exact

    /// Has all other processes note what they did with an item.
    private mutating func touch(_ key: String, on process: Int) throws {
        if unnoted[process].mayBeFound, unnoted[process].acts[key]?.contains(.stored) == true {
            try flush(process)
        }
        for other in unnoted.indices where other != process && unnoted[other].acts[key] != nil {
            try flush(other)
        }
    }

    /// What has expired or was taken away and is then replaced, or removed, left for the first reason if somebody has
    /// noticed it, and otherwise for the second. Here somebody does.
    private mutating func prepareToReplace(_ key: String, on process: Int) throws {
        try touch(key, on: process)
        guard let item = model.items[key] else { return }
        if item.isSpoilt != nil || item.hasExpired(at: time) { try read(key, on: process) }
    }

    private mutating func note(_ act: Unnoted.Act, _ key: String, _ process: Int) {
        unnoted[process].acts[key, default: []].append(act)
    }

    private mutating func flush(_ process: Int) throws {
        try tell(process, "flush")
        unnoted[process] = Unnoted()
    }

    private mutating func flushAll() throws {
        for process in processes.indices { try flush(process) }
    }

    /// Gives up what the processes hold in advance, too.
    private mutating func trimAll() throws {
        try flushAll()
        for process in processes.indices { try tell(process, "trim") }
        try findGone(because: nil)
    }

    /// Has everything noted and noticed.
    mutating func settle() throws {
        try flushAll()
        try findSpoilt(on: random(3))
        try trimAll()
    }

    private mutating func findSpoilt(on process: Int) throws {
        for key in model.items.filter({ $1.isSpoilt != nil }).keys.sorted() { try read(key, on: process) }
    }

    mutating func evictEverything() throws {
        try evict(on: random(3), "evict \(Int64.max)", because: .request)
        try flushAll()
        #expect(model.items.isEmpty)
    }

    /// Finds items whose files are gone: what has expired may go at any time, anything else only when it is evicted.
    private mutating func findGone(because reason: Departure?) throws {
        for (key, item) in model.items.sorted(by: { $0.key < $1.key }) where item.isSpoilt != .purged {
            guard try !container.item(ItemKey(key)).exists else { continue }
            let hasExpired = item.hasExpired(at: time)
            log.append("gone \(key)\(hasExpired ? ", expired" : "")")
            #expect(hasExpired || reason != nil, "\(key) has gone for no reason")
            model.leave(key, because: hasExpired ? .expired : reason ?? .purged)
        }
    }

    // MARK: What came of it

    func figures() throws -> [String: PrefetchFigures] {
        try withEngine { try PrefetchHistory($0.historyRows(), since: nil).bySource }
            .reduce(into: [:]) { $0[$1.source] = $1.figures }
    }

    /// As a fourth process.
    private func withEngine<Result>(_ body: (Engine) throws -> Result) throws -> Result {
        let engine = try container.engine(
            boot: CacheEnvironment.live().bootIdentifier, now: { [time] in time })
        let result = try body(engine)
        try engine.close()
        return result
    }

    func residents() throws -> Int64 { try figures().values.reduce(0) { $0 + $1.residents } }

    private func isListed(_ key: String) throws -> Bool {
        try withEngine { try $0.items().contains { $0.key.string == key } }
    }

    /// What was done with the keys that a source ever had.
    func story(of source: String) -> String {
        let keys = Set(
            log.filter { $0.contains(" \(source) ") }.compactMap {
                $0.split(separator: " ").dropFirst(2).first
            })
        return log.filter { line in
            line.split(separator: " ").contains { keys.contains($0) } || line.contains("kill")
                || line.contains("purge")
        }.joined(separator: "\n")
    }

    // MARK: Chance

    @discardableResult
    private mutating func tell(_ process: Int, _ line: String) throws -> String {
        let answer = try processes[process].tell(line)
        log.append("\(process) \(line) → \(answer)")
        return answer
    }

    private mutating func random(_ count: Int) -> Int { Int.random(in: 0..<count, using: &generator) }

    /// Mostly one of few, so that processes meet.
    private mutating func anyKey() -> String { Self.keys[random(random(3) == 0 ? Self.keys.count : 16)] }

    private mutating func anySource() -> String { Self.sources[random(Self.sources.count)] }
}
