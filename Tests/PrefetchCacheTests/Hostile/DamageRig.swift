import FileSystem
import FileSystemTestSupport
import Foundation
import ItemFormat
import ItemFormatTestSupport
import SystemPackage
import Testing

@testable import PrefetchCache

/// A cache with one item, whose file a test damages again and again, and every way to ask for it.
///
/// The damaged file is moved into the item's place for each question, and taken away again from wherever it went.
final class DamageRig {
    /// The ways to ask for an item.
    enum Question: CaseIterable {
        case read, range, stream, open, metadata, verify

        /// Those whose answer depends on every byte of the file.
        static let ofContent: [Question] = [.read, .range, .stream, .open, .verify]
    }

    enum Answer: Equatable {
        /// What was stored, or a part of it.
        case right
        /// Other bytes, or another item's description.
        case wrong
        case purged, damaged, newer, absent
        case failed(String)
    }

    let container: TemporaryContainer
    let engine: Engine
    let key: ItemKey
    let content: Data
    let metadata: ItemMetadata
    /// The file as it was stored.
    let image: [UInt8]
    private(set) var record: AttackRecord
    private let damaged: URL

    /// - Parameter image: Put in the place of what was stored; a test that needs wrong bytes with right checksums
    ///   gives its own.
    init(
        _ name: String, key: ItemKey = "key", content: Data, encoding: EncodingChoice, image: [UInt8]? = nil
    ) throws {
        record = AttackRecord(name)
        self.key = key
        self.content = content
        container = try TemporaryContainer()
        engine = try container.engine()
        try engine.store(content, key, encoding: encoding)
        try engine.flush()
        self.image = try image ?? [UInt8](Data(contentsOf: container.item(key)))
        metadata = try #require(try engine.description(of: key)).metadata
        damaged = container.root.appending(path: "damaged")
        try FileManager.default.removeItem(at: container.item(key))
        try write(self.image)
    }

    /// The footer's place in the file.
    var footer: Range<Int> {
        let length = image.dropLast(20).suffix(4).reversed().reduce(0) { $0 << 8 | Int($1) }
        return image.count - length..<image.count
    }

    /// Puts other bytes in the place of the damaged file.
    func write(_ bytes: [UInt8]) throws {
        try Data(bytes).write(to: damaged)
    }

    /// Flips a bit of the damaged file. Twice is not at all.
    func flip(bit: Int) throws {
        let file = try FileHandle(forUpdating: damaged)
        defer { close(file) }
        try file.seek(toOffset: UInt64(bit / 8))
        let byte = try #require(try file.read(upToCount: 1)?.first)
        try file.seek(toOffset: UInt64(bit / 8))
        try file.write(contentsOf: [byte ^ 1 << UInt8(bit % 8)])
    }

    /// Makes the damaged file as long: with a hole where it was shorter.
    func truncate(to length: UInt64) throws {
        let file = try FileHandle(forUpdating: damaged)
        defer { close(file) }
        try file.truncate(atOffset: length)
    }

    /// Makes the damaged file a hole with a footer behind it.
    func writeHole(before item: ForgedItem) throws {
        let footer = item.image
        try write([])
        let file = try FileHandle(forUpdating: damaged)
        defer { close(file) }
        let length = try #require(item.claimedStoredLength)
        try file.seek(toOffset: length - UInt64(footer.count))
        try file.write(contentsOf: footer)
    }

    /// Where the chunks end, by the table.
    var chunkEnds: [Int] {
        var end = 0
        let tableEnd = image.count - 32
        let count = (content.count + ItemLimits.chunkLength - 1) / ItemLimits.chunkLength
        return (0..<count).map { index in
            let entry = tableEnd - (count - index) * 12
            end += image[entry..<entry + 4].reversed().reduce(0) { $0 << 8 | Int($1) }
            return end
        }
    }

    /// Whether the damaged file still is what was written.
    func isIntact(_ bytes: [UInt8]) throws -> Bool {
        try [UInt8](Data(contentsOf: damaged)) == bytes
    }

    private func close(_ file: FileHandle) {
        do { try file.close() } catch { Issue.record(error) }
    }

    /// Asks for the damaged file in several ways, and counts it as one case.
    ///
    /// - Parameter expected: What may be answered; `.right` only where the damage is none.
    func attack(
        _ description: @autoclosure () -> String, asking questions: [Question] = Question.allCases,
        expecting expected: Set<Expectation> = [.damaged], sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        record.cases += 1
        for question in questions {
            try place()
            let answer = try ask(question)
            if answer == .wrong { record.wrongBytes += 1 }
            #expect(
                expected.contains { $0.allows(answer, to: question) },
                "\(question): \(answer), \(description()), seed \(TestRun.seed)",
                sourceLocation: sourceLocation)
            try takeAway(after: answer, sourceLocation)
        }
    }

    /// What may come of a case.
    enum Expectation {
        /// The change is none to a reader.
        case unharmed
        /// A miss and a quarantine, or a finding of `verify`.
        case damaged
        /// A miss, and the file is removed; to `verify` it is missing.
        case purged
        /// A miss, and the file is left alone.
        case newer
        /// The error that it does not fit into memory.
        case noMemory

        func allows(_ answer: Answer, to question: Question) -> Bool {
            switch self {
            case .unharmed: answer == .right
            case .damaged: answer == .damaged
            case .purged: answer == .purged
            case .newer: answer == .newer
            case .noMemory: answer == .failed("\(FileSystemError("malloc", errno: .noMemory))")
            }
        }
    }

    private func place() throws {
        let item = container.item(key)
        try FileManager.default.createDirectory(
            at: item.deletingLastPathComponent(), withIntermediateDirectories: true)
        try FileManager.default.moveItem(at: damaged, to: item)
    }

    private func takeAway(after answer: Answer, _ sourceLocation: SourceLocation) throws {
        let item = container.item(key)
        let quarantined = container.caches.appending(path: "quarantine/\(key.hash.setAside.hexadecimal)")
        if FileManager.default.fileExists(atPath: quarantined.path) {
            #expect(answer == .damaged, "set aside", sourceLocation: sourceLocation)
            try FileManager.default.moveItem(at: quarantined, to: damaged)
        } else if FileManager.default.fileExists(atPath: item.path) {
            try FileManager.default.moveItem(at: item, to: damaged)
        } else {
            // It was removed, or became the user's.
            #expect(answer == .right || answer == .wrong || answer == .purged, sourceLocation: sourceLocation)
            try write(image)
        }
        #expect(!FileManager.default.fileExists(atPath: item.path), sourceLocation: sourceLocation)
    }

    // MARK: Questions

    func ask(_ question: Question) throws -> Answer {
        do {
            switch question {
            case .read: return answer(try engine.read(key, nil)) { $0 == content }
            case .range: return try askForRange()
            case .stream: return try askForStream()
            case .open: return try askToOpen()
            case .metadata:
                let isThere = FileManager.default.fileExists(atPath: container.item(key).path)
                guard let found = try engine.description(of: key) else { return whereItWent(isThere) }
                return found.metadata == metadata && found.contentLength == Int64(content.count)
                    ? .right : .wrong
            case .verify: return try verify()
            }
        } catch let error as CacheError {
            return .failed("\(error)")
        }
    }

    private func answer<Value>(_ lookup: Lookup<Value>, _ isRight: (Value) throws -> Bool) rethrows -> Answer
    {
        switch lookup {
        case .hit(let value): try isRight(value) ? .right : .wrong
        case .miss(.damaged): whereItWent(true) == .damaged ? .damaged : .failed("not set aside")
        case .miss(.purged): .purged
        case .miss(.newerFormat): .newer
        case .miss(.absent), .miss(.expired): .absent
        }
    }

    /// What became of the file, after a question that does not tell.
    private func whereItWent(_ wasThere: Bool) -> Answer {
        let quarantined = container.caches.appending(path: "quarantine/\(key.hash.setAside.hexadecimal)")
        if FileManager.default.fileExists(atPath: quarantined.path) { return .damaged }
        if FileManager.default.fileExists(atPath: container.item(key).path) { return .newer }
        return wasThere ? .purged : .absent
    }

    /// The second half, piece by piece: chunks that it does not touch do not count.
    private func askForRange() throws -> Answer {
        let half = Int64(content.count / 2)
        let first = try answer(engine.read(key, 0..<half)) { $0 == content.prefix(Int(half)) }
        guard first == .right else { return first }
        let rest = half..<Int64(content.count)
        return try answer(engine.read(key, rest)) { $0 == content.suffix(rest.count) }
    }

    private func askForStream() throws -> Answer {
        var received = Data()
        var lookup: Lookup<Void>?
        do {
            lookup = try engine.stream(key, nil) { received.append(contentsOf: $0) }
        } catch {
            guard case .item(.damaged) = error else { throw error }
        }
        if let lookup { return answer(lookup) { received == content } }
        // Chunks before the damaged one had been handed out.
        return received == content.prefix(received.count) ? whereItWent(true) : .wrong
    }

    private func askToOpen() throws -> Answer {
        let found = try answer(engine.open(key)) { opened in
            try Data(contentsOf: URL(filePath: opened.path.string)) == content
        }
        let documents = try container.files(below: container.documents)
        #expect(documents.isEmpty == (found != .right && found != .wrong), "\(documents)")
        for file in documents {
            try FileManager.default.removeItem(at: container.documents.appending(path: file))
            _ = try engine.forget(key)
        }
        return found
    }

    private func verify() throws -> Answer {
        let report = try Verifier(
            engine, VerificationRequest(), isCancelled: { false }, report: nil
        ).run()
        guard let finding = report.findings.first else { return report.verifiedItems == 1 ? .right : .absent }
        switch finding.verdict {
        case .damaged: return .damaged
        case .missing: return .purged
        case .newerFormat: return .newer
        case .modified, .unreadable: return .failed("\(finding)")
        }
    }

    /// Puts the item back, and looks whether it is served as ever, and whether a new catalog charges what is there.
    func finish(sourceLocation: SourceLocation = #_sourceLocation) throws {
        try write(image)
        try attack("untouched", expecting: [.unharmed], sourceLocation: sourceLocation)
        record.cases -= 1
        try engine.close()
        try write(image)
        try place()
        try FileManager.default.removeItem(at: container.catalog)
        let statistics = try container.engine().statistics()
        #expect(statistics.items == 1, sourceLocation: sourceLocation)
        #expect(
            try statistics.chargedBytes == container.chargedOnDisk(), sourceLocation: sourceLocation)
        record.overshoot = max(0, statistics.chargedBytes - statistics.budgetBytes)
        #expect(record.isHarmless, sourceLocation: sourceLocation)
        record.report()
    }
}

/// All of `range`; as many of it as `count`, chosen by the seed, in a short run of code that is not optimised.
func chosen(_ range: Range<Int>, atMost count: Int) -> [Int] {
    let count = TestRun.count(debug: count, optimised: range.count, long: range.count)
    guard count < range.count else { return Array(range) }
    var generator = SeededGenerator(seed: TestRun.seed)
    return (0..<count).map { _ in Int.random(in: range, using: &generator) }
}
