internal import Foundation
internal import PrefetchCaching
internal import Synchronization

/// What is done with models on a small volume, step by step, and what has to come of it.
final class ModelPlay {
    /// What a file system needs for itself: indirect blocks, folders, the catalog, the ledger.
    private static let slack: Int64 = 4 << 20

    private let container: URL
    private let length: Int64
    private let notes: Notebook
    private let isBroken: Bool
    private var watched: WatchedCache
    /// What the user has.
    private var opened: [Int: URL] = [:]

    init(in container: URL, length: Int64, _ notes: Notebook, isBroken: Bool) async throws {
        self.container = container
        self.length = length
        self.notes = notes
        self.isBroken = isBroken
        watched = try await WatchedCache(in: container, notes: notes, isBroken: isBroken)
    }

    private func model(_ number: Int) -> Model { Model(number: number, length: length) }

    func run() async throws {
        try await refuseWithinTheAutomaticBudget()
        try await storeAhead()
        try await lookAtModels()
        try await openOne(2)
        try await requestUntilTheVolumeIsFull(from: 3)
        try await deleteAndStoreAnew()
        try await killWhileTheUserWaits()
        try await killAndResume()
        try await compare()
        try await watched.close()
        try expectNothingLeft()
    }

    // MARK: Steps

    /// A quarter of the volume is less than a model.
    private func refuseWithinTheAutomaticBudget() async throws {
        let before = try volume()
        let report = try await capacity()
        expect(
            report.budgetBytes > 0 && report.budgetBytes < length, "budget: \(report.budgetBytes) for a model"
        )
        for expected in [length, nil] {
            let outcome = try await store(model(0), .opportunistic, expectedLength: expected)
            guard case .refused(.largerThanLargestItem(let needed, let largest)) = outcome else {
                notes.fault("refusals: a model in a budget of \(report.budgetBytes): \(outcome)")
                continue
            }
            expect(
                largest == report.largestItemBytes,
                "refusals: largest \(largest), not \(report.largestItemBytes)")
            // A length that is not known is refused where it outgrows the room.
            let least = expected == nil ? largest : length
            expect((least...length + Self.slack).contains(needed), "refusals: needed \(needed)")
        }
        try await expectUnchanged(since: before, "a refused model")
    }

    /// Two fit into the budget, the third displaces the first.
    private func storeAhead() async throws {
        try await watched.timed("configure") { [length] () async throws(CacheError) in
            _ = try await watched.cache.configure {
                $0.budget = .fixed(.bytes(length * 24 / 10))
                $0.largestItem = .bytes(length * 12 / 10)
            }
        }
        for number in 0..<3 {
            let before = try volume()
            let items = try await watched.cache.items()
            let outcome = try await store(model(number), .opportunistic, expectedLength: length)
            guard case .stored(let summary) = outcome else {
                notes.fault("store: model \(number): \(outcome)")
                continue
            }
            expect(summary.encoding == .identity, "store: a model that does not compress was compressed")
            let used = before - (try volume())
            let expected = number == 2 ? 0 : length
            expect(abs(used - expected) < Self.slack, "space: storing model \(number) took \(used) bytes")
            let listed = try await watched.cache.items().count
            expect(listed == min(items.count + 1, 2), "counts: \(listed) items after model \(number)")
        }
        let keys = try await watched.cache.items().map(\.key.string)
        expect(keys == ["model-1", "model-2"], "eviction: \(keys) are left")
    }

    private func lookAtModels() async throws {
        let first = model(1)
        await watched.read(try first.key) { first.isRight($0) }
        let key = try model(2).key
        for index in [0, model(2).pieces / 2, model(2).pieces - 1] {
            let start = Int64(index * Model.pieceLength)
            let range = start..<start + Int64(Model.pieceLength)
            let piece = try await watched.timed("read a piece") { () async throws(CacheError) in
                try await watched.cache.read(key, range: range)
            }
            notes.did("hit", key.string)
            expect(piece == model(2).piece(index), "content: piece \(index) of model 2")
        }
        expect(await !watched.read(try model(0).key) { _ in false }, "eviction: model 0 is still there")
    }

    /// It moves, whatever its size: there is no room for a second copy, nor need of one.
    private func openOne(_ number: Int) async throws {
        let before = try volume()
        let model = model(number)
        guard let file = await watched.open(try model.key, isRight: model.isRight) else {
            return notes.fault("open: model \(number) is missing")
        }
        opened[number] = file.url
        let used = before - (try volume())
        expect(abs(used) < Self.slack, "space: opening a model took \(used) bytes")
        let again = await watched.open(try model.key, isRight: model.isRight)
        expect(
            again?.path == file.path && again?.isFirstOpen == false, "open: model \(number) became two files")
    }

    /// The user asks for one model after the other. What there could be is what is free, and what could be evicted, but
    /// for the low mark.
    private func requestUntilTheVolumeIsFull(from first: Int) async throws {
        for number in first..<first + 4 {
            let before = try volume()
            let report = try await capacity()
            let evictable = try await watched.statistics().chargedBytes
            let possible = before + evictable - report.capacity.low
            do {
                let outcome = try await store(model(number), .userRequested, expectedLength: length)
                guard case .delivered(let file) = outcome else {
                    notes.fault("request: model \(number): \(outcome)")
                    continue
                }
                expect(
                    possible > length - Self.slack, "request: delivered where \(possible) bytes were possible"
                )
                try take(file, number)
            } catch CacheError.insufficientSpace(let needed, let available) {
                notes.did("too little space", "model-\(number)")
                expect(
                    possible < length + Self.slack, "request: refused where \(possible) bytes could be had")
                expect(
                    (length...length + Self.slack).contains(needed),
                    "request: \(needed) are said to be needed")
                expect(
                    abs(available - possible) <= Self.slack,
                    "request: \(available) are said to be available where \(possible) were")
                try await expectUnchanged(since: before, "a request that was refused")
                let left = try await watched.statistics().chargedBytes
                expect(left == evictable, "request: \(evictable - left) bytes were evicted for nothing")
                return
            }
        }
        notes.fault("request: the volume never was full")
    }

    private func take(_ file: PromotedFile, _ number: Int) throws {
        let content = try Data(contentsOf: file.url, options: .alwaysMapped)
        expect(model(number).isRight(content), "content: model \(number) was not delivered as it was stored")
        opened[number] = file.url
    }

    /// The user makes room, and wants back what he has deleted.
    private func deleteAndStoreAnew() async throws {
        guard let (number, file) = opened.min(by: { $0.key < $1.key }) else { return }
        let before = try volume()
        try FileManager.default.removeItem(at: file)
        opened[number] = nil
        expect(
            abs(try volume() - before - length) < Self.slack, "space: a file that was deleted is still there")
        let model = model(number)
        do {
            _ = try await watched.cache.open(try model.key)
            notes.fault("open: a file that the user deleted came back")
        } catch CacheError.movedOrDeleted {
            notes.did("gone")
        }
        guard case .delivered(let delivered) = try await store(model, .userRequested, expectedLength: length)
        else {
            return notes.fault("request: a model that was deleted cannot be had again")
        }
        try take(delivered, number)
    }

    private func killWhileTheUserWaits() async throws {
        guard let (number, file) = opened.max(by: { $0.key < $1.key }) else { return }
        try FileManager.default.removeItem(at: file)
        opened[number] = nil
        let before = try volume()
        try await storeHalfAndKill(20, isRequested: true)
        try await reopen()
        try expect(try staged().isEmpty, "left: \(try staged()) of a process that was killed")
        try expect(
            abs(try volume() - before) < Self.slack,
            "space: a process that was killed left \(before - (try volume())) bytes")
        let isThere = await watched.read(try model(20).key) { _ in false }
        expect(!isThere, "content: half a model can be read")
    }

    private func killAndResume() async throws {
        for file in opened.values { try FileManager.default.removeItem(at: file) }
        opened = [:]
        // The volume is not short of space any more.
        try await watched.timed("trim") { () async throws(CacheError) in try await watched.cache.trim() }
        let before = try volume()
        try await storeHalfAndKill(21, isRequested: false)
        try await reopen()
        let half = before - (try volume())
        expect(abs(half - length / 2) < Self.slack, "space: half a model takes \(half) bytes")
        let key = try model(21).key
        guard case .writer(let writer) = try await resume(key) else {
            return notes.fault("resume: half a model is not resumed")
        }
        let model = model(21)
        for index in Int(writer.contentBytes) / Model.pieceLength..<model.pieces {
            if let refusal = try await writer.write(model.piece(index)) {
                return notes.fault("resume: \(refusal)")
            }
        }
        watched.note(try await writer.commit(), of: key)
        try await openOne(21)
    }

    private func compare() async throws {
        try await watched.timed("flush") { () async throws(CacheError) in try await watched.cache.flush() }
        let statistics = try await watched.statistics()
        let done = notes.present
        for (name, said, act) in [
            ("stores", statistics.stores, "stored"), ("promotions", statistics.promotions, "opened"),
            ("misses", statistics.misses, "missed"),
            ("evictions", statistics.evictions, "evicted"),
            ("refusals", statistics.refusals.values.reduce(0, +), "refused"),
        ] where said != Int64(done[act]) {
            notes.fault("counts: the cache says \(said) \(name) where \(done[act]) were counted")
        }
        let reads = statistics.figures[.read] + statistics.figures[.reopened]
        if reads != Int64(done["hit"] + done["opened again"]) {
            notes.fault("counts: the cache says \(reads) reads where \(done["hit"]) were counted")
        }
    }

    /// On the disk is what the user has and what is cached, and little else.
    private func expectNothingLeft() throws {
        try expect(try staged().isEmpty, "left: \(try staged())")
        let items = try OnDisk(container.appending(path: "Library/Caches/PrefetchCache/items"))
        let known = items.bytes + Int64(opened.count) * length
        let all = try OnDisk(container).bytes
        expect(all - known < 1 << 20, "left: \(all - known) bytes that are neither cached nor opened")
    }

    // MARK: Means

    private func expect(_ holds: Bool, _ fault: @autoclosure () throws -> String) rethrows {
        if !holds { notes.fault(try fault()) }
    }

    /// The bytes that are available, as `df` says.
    private func volume() throws -> Int64 {
        var volume = statvfs()
        guard statvfs(container.path, &volume) == 0 else {
            throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO)
        }
        return Int64(volume.f_bavail) * Int64(volume.f_frsize)
    }

    private func capacity() async throws -> CapacityReport {
        let report = try await watched.timed("capacity") { () async throws(CacheError) in
            try await watched.cache.capacity()
        }
        let present = try volume()
        expect(
            abs(report.capacity.state.available - present) < Self.slack,
            "capacity: \(report.capacity.state.available) available, and \(present) are")
        // A process holds some for small items in advance.
        expect(
            report.heldBytes < Self.slack, "capacity: \(report.heldBytes) are held where nothing is under way"
        )
        expect(
            report.largestItemBytes <= report.ceilingBytes,
            "capacity: the largest item may have \(report.largestItemBytes), all together \(report.ceilingBytes)"
        )
        return report
    }

    private func expectUnchanged(since before: Int64, _ cause: String) async throws {
        let used = before - (try volume())
        expect(abs(used) < Self.slack, "space: \(cause) took \(used) bytes")
        try expect(try staged().isEmpty, "left: \(cause) left \(try staged())")
        _ = try await capacity()
    }

    /// What is neither cached nor opened, nor one of the cache's own small files.
    private func staged() throws -> [String] {
        let folders = [
            "Library/Caches/PrefetchCache/incoming", "Library/Application Support/PrefetchCache/staging",
        ]
        return try folders.flatMap { folder in
            let folder = container.appending(path: folder)
            guard FileManager.default.fileExists(atPath: folder.path) else { return [String]() }
            return try OnDisk(folder).paths.filter { !$0.hasSuffix(".lock") && !$0.contains("/locks/") }
        }
    }

    private func store(_ model: Model, _ intent: Intent, expectedLength: Int64?) async throws -> StoreOutcome
    {
        let outcome = try await write(model, intent, expectedLength)
        watched.note(outcome, of: try model.key)
        return outcome
    }

    private func write(_ model: Model, _ intent: Intent, _ expectedLength: Int64?) async throws
        -> StoreOutcome
    {
        let metadata = try model.metadata(intent)
        let begun = try await watched.timed("begin") { () async throws(CacheError) in
            try await watched.cache.beginStoring(metadata, expectedLength: expectedLength)
        }
        switch begun {
        case .refused(let refusal): return .refused(refusal)
        case .writer(let writer):
            for index in 0..<model.pieces {
                let piece = model.piece(index)
                let refusal = try await watched.timed("write") { () async throws(CacheError) in
                    try await writer.write(piece)
                }
                if let refusal { return .refused(refusal) }
            }
            return try await watched.timed("commit") { () async throws(CacheError) in
                try await writer.commit()
            }
        }
    }

    private func storeHalfAndKill(_ number: Int, isRequested: Bool) async throws {
        var arguments = [
            "model-store", "--container", container.path, "--number", "\(number)", "--length", "\(length)",
        ]
        if isRequested { arguments.append("--requested") }
        let child = try Child(arguments) { [notes] in notes.add($0) }
        expect(await child.reaches("half"), "end: half a model was not stored")
        child.kill()
        _ = await child.end()
    }

    private func resume(_ key: ItemKey) async throws -> ResumedStoring {
        guard let partial = try await watched.cache.partial(of: key) else { return .gone }
        return try await watched.timed("resume") { () async throws(CacheError) in
            try await watched.cache.resumeStoring(partial)
        }
    }

    /// As the next launch of the app would find it.
    private func reopen() async throws {
        try await watched.close()
        watched = try await WatchedCache(in: container, notes: notes, isBroken: false)
        _ = try await watched.statistics()
    }
}
