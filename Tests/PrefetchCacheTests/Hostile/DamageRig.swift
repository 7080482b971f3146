import FileSystemTestSupport
import Foundation
import ItemFormatTestSupport
import PrefetchFileSystem
import SystemPackage
import Testing

@testable import PrefetchCaching

/// A cache with one item, whose file a test damages again and again, and every way to ask for it.
///
/// The damaged file is moved into the item's place for each question, and taken away again from wherever it went.
final class DamageRig {
    /// The ways to ask for an item.
    enum Question: CaseIterable {
        case read, range, stream, open, openSeveral, metadata, status, contains, verify

        /// Those whose answer depends on every byte of the file.
        static let ofContent: [Question] = [.read, .range, .stream, .open, .openSeveral, .verify]

        /// Those that are answered from the catalog, or from no more than the footer, and say little.
        static let ofExistence: [Question] = [.status, .contains]
    }

    enum Answer: Equatable {
        /// What was stored, or a part of it.
        case right
        /// Other bytes, or another item's description.
        case wrong
        case purged, damaged, newer, absent
        /// Something is there, whatever it is: all that the question asks.
        case present
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
    /// Beside the damaged item, for who opens several.
    let companion: ItemKey = "companion"
    /// What is in the damaged file, as long as it is short enough to be kept.
    private(set) var written: [UInt8]?

    /// - Parameter image: Put in the place of what was stored; a test that needs wrong bytes with right checksums
    ///   gives its own.
    init(
        _ name: String, key: ItemKey = "key", content: Data, encoding: EncodingChoice, image: [UInt8]? = nil
    ) throws {
        record = AttackRecord(name, of: "damaged files asked for in several ways")
        self.key = key
        self.content = content
        container = try TemporaryContainer(in: .fastTemporaryFolder)
        engine = try container.engine()
        try engine.store(content, key, encoding: encoding)
        try engine.flush()
        self.image = try image ?? [UInt8](Data(contentsOf: container.item(key)))
        metadata = try #require(try engine.description(of: key)).metadata
        damaged = container.root.appending(path: "damaged")
        try container.item(key).remove()
        try write(self.image)
    }

    /// The footer's place in the file.
    var footer: Range<Int> {
        let length = image.dropLast(20).suffix(4).reversed().reduce(0) { $0 << 8 | Int($1) }
        return image.count - length..<image.count
    }

    /// Puts other bytes in the place of the damaged file.
    func write(_ bytes: [UInt8]) throws {
        written = bytes
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
        written?[bit / 8] ^= 1 << UInt8(bit % 8)
    }

    /// Makes the damaged file as long: with a hole where it was shorter.
    func truncate(to length: UInt64) throws {
        let file = try FileHandle(forUpdating: damaged)
        defer { close(file) }
        try file.truncate(atOffset: length)
        written = nil
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
        written = nil
    }

    /// Where the chunks end, by the table.
    var chunkEnds: [Int] {
        var end = 0
        let tableEnd = image.count - 32
        let count = (content.count + ItemLimits.chunkBytes - 1) / ItemLimits.chunkBytes
        return (0..<count).map { index in
            let entry = tableEnd - (count - index) * 12
            end += image[entry..<entry + 4].reversed().reduce(0) { $0 << 8 | Int($1) }
            return end
        }
    }

    /// Whether the damaged file still is what was written.
    func isIntact(_ bytes: [UInt8]) throws -> Bool { try [UInt8](Data(contentsOf: damaged)) == bytes }

    private func close(_ file: FileHandle) { do { try file.close() } catch { Issue.record(error) } }

    /// To open several is to hand a sound item over as well, which takes its time.
    private static let casesBetweenSeveral = 8

    /// Asks for the damaged file in several ways, and counts it as one case.
    ///
    /// - Parameter expected: What may be answered; `.right` only where the damage is none.
    func attack(
        _ description: @autoclosure () -> String, asking questions: [Question] = Question.allCases,
        expecting expected: Set<Expectation> = [.damaged], sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        record.cases += 1
        for question in questions {
            let isDue = record.cases % Self.casesBetweenSeveral == 1 || questions.count == 1
            if question == .openSeveral, !isDue { continue }
            try place()
            let answer = try ask(question)
            record.note(\.wrongBytes, if: answer == .wrong)
            #expect(
                expected.contains { $0.allows(answer, to: question) },
                "\(question): \(answer), \(description()), seed \(TestRun.seed)",
                sourceLocation: sourceLocation)
            try takeAway(after: answer, to: question, sourceLocation)
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
            if Question.ofExistence.contains(question) { return [.present, .absent].contains(answer) }
            return switch self {
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
        try item.deletingLastPathComponent().makeFolder()
        try damaged.move(to: item)
    }

    private func takeAway(after answer: Answer, to question: Question, _ sourceLocation: SourceLocation)
        throws
    {
        let item = container.item(key)
        let quarantined = container.caches.appending(path: "quarantine/\(key.hash.inQuarantine.hexadecimal)")
        if quarantined.exists {
            #expect(answer == .damaged || question == .contains, "set aside", sourceLocation: sourceLocation)
            try quarantined.move(to: damaged)
        } else if item.exists {
            try item.move(to: damaged)
        } else {
            // It was removed, or became the user's.
            #expect(
                [.right, .wrong, .purged].contains(answer) || question == .contains,
                sourceLocation: sourceLocation)
            // Who asks again makes the hole again.
            if let written { try write(written) }
        }
        #expect(!item.exists, sourceLocation: sourceLocation)
    }

    /// Puts the item back, and looks whether it is served as ever, and whether a new catalog charges what is there.
    func finish(sourceLocation: SourceLocation = #_sourceLocation) throws {
        try write(image)
        try attack("untouched", expecting: [.unharmed], sourceLocation: sourceLocation)
        record.cases -= 1
        try engine.close()
        try write(image)
        try place()
        try container.catalog.remove()
        let statistics = try container.engine().statistics()
        #expect(statistics.items == 1, sourceLocation: sourceLocation)
        #expect(try statistics.chargedBytes == container.chargedOnDisk(), sourceLocation: sourceLocation)
        #expect(record.isHarmless, sourceLocation: sourceLocation)
        record.report()
    }
}

/// All of `range` in a long run; as many of it as `count`, by lot, in a short one.
func chosen(_ range: Range<Int>, atMost count: Int) -> [Int] {
    let count = TestRun.count(short: count, long: range.count)
    guard count < range.count else { return Array(range) }
    var generator = SeededGenerator(seed: TestRun.seed)
    return (0..<count).map { _ in Int.random(in: range, using: &generator) }
}
