import FileSystemTestSupport
import Foundation
import ItemFormatTestSupport
import PrefetchItemFormat
import Testing

/// Whatever an item claims, reading it takes the memory that an honest one takes. The kernel sees to that: the
/// command has as much address space as an honest item needs, and 1 GiB more.
@Suite(.enabled(if: FileManager.default.fileExists(atPath: "/proc/self"), "only Linux limits address space"))
struct BoundedAllocationTests {
    /// In KiB.
    private static let step = 64 << 10
    /// In KiB. A thread more, at a bad moment, wants 128 MiB; a content of 64 GiB, or a chunk of 4 GiB, is far beyond it.
    private static let margin = 1 << 20

    private let container: Container

    init() throws {
        container = try Container()
    }

    @Test func noClaimTakesMemory() async throws {
        let limit = try await need() + Self.margin
        // Negative control: the limit is felt.
        #expect(try cat(within: 16 << 10).status != 0)

        var record = AttackRecord("damage.memory-limit", of: "damaged files that are printed")
        let content = [UInt8](text)
        for name in ["footer length \(UInt32.max)", "the longest chunk", "content length \(64 << 30 + 1)"] {
            let forgeries = Forgery.trailers + Forgery.chunkTables
            let forgery = try #require(forgeries.first { $0.description == name }, "\(name)")
            try await expectDamage(Data(forgery.image(of: content)), within: limit, name, &record)
        }
        for encoding in [ItemEncoding.lz4, .identity] {
            let (hole, footer) = giant(encoding)
            // A file that was emptied while it was written looks like that: it is gone, not damaged.
            try await expectDamage(
                footer, behind: hole, within: limit, "64 GiB as \(encoding)", &record, status: 66)
        }
        #expect(record.isHarmless)
        record.report()
    }

    /// The least address space, in steps, in which an honest item is printed.
    private func need() async throws -> Int {
        try await container.succeed("put", "key", "-", input: text)
        // With less, the runtime waits for a thread that it cannot have.
        for step in 4...64 {
            let outcome = try cat(within: step * Self.step)
            if outcome.status == 0, outcome.output == text { return step * Self.step }
        }
        Issue.record("4 GiB are not enough")
        return 0
    }

    private func cat(within kibibytes: Int) throws -> Tool.Outcome {
        // A backtrace would take its time, and tells nothing. What hangs fails.
        try container.shell(
            "ulimit -c 0; ulimit -v \(kibibytes); export SWIFT_BACKTRACE=enable=no; "
                + "exec timeout -s KILL 60 \"$CACHECTL\" cat key --container \"$CONTAINER\"")
    }

    /// Puts the bytes, behind a hole, in the place of the item, and prints it.
    private func expectDamage(
        _ bytes: Data, behind hole: UInt64 = 0, within limit: Int, _ name: String,
        _ record: inout AttackRecord, status: Int32 = 65
    ) async throws {
        try await container.succeed("put", "key", "-", input: text)
        let file = try FileHandle(forWritingTo: await container.onlyItemFile())
        try file.truncate(atOffset: 0)
        try file.seek(toOffset: hole)
        try file.write(contentsOf: bytes)
        try file.close()

        record.cases += 1
        let outcome = try cat(within: limit)
        #expect(outcome.status == status, "\(name): \(outcome.errors)")
        record.note(\.wrongBytes, if: !outcome.output.isEmpty)
        record.note(\.crashes, if: outcome.status != status)
    }

    /// The longest item that there can be: a hole with a footer behind it.
    private func giant(_ encoding: ItemEncoding) -> (hole: UInt64, footer: Data) {
        var item = ForgedItem(content: [])
        item.encoding = encoding.rawValue
        item.contentBytes = ItemLimits.contentBytes
        let storedBytes: UInt32 = encoding == .lz4 ? 4200 : 1 << 20
        item.setChunks(Array(repeating: (storedBytes, 0), count: 1 << 16))
        let hole = UInt64(storedBytes) << 16
        item.claimedStoredLength = hole + UInt64(item.image.count)
        return (hole, Data(item.image))
    }
}
