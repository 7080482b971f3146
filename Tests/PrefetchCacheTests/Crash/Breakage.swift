import FileSystemTestSupport
import SystemPackage
import Testing

@testable import PrefetchCaching

/// One of the precautions of promotion, taken out.
struct Breakage: Sendable, CustomTestStringConvertible {
    let name: String
    /// A workload that misses it.
    var witness = ""
    /// The operations that only claim to have done their work.
    var sabotage: OperationTest = { _ in false }
    /// The states of ledger entries that are entered without being flushed …
    var unflushed: Set<LedgerEntry.State> = []
    /// … and not at all.
    var omitted: Set<LedgerEntry.State> = []

    var testDescription: String { name }

    static let none = Breakage(name: "none")
}

extension Breakage {
    /// What promotion is not safe without.
    static let needed: [Breakage] = [
        flush("of what is staged", missedBy: "first open, LZ4") { $0.count > 33 },
        flush("of the staging folder", missedBy: "first open, identity") {
            [CacheLayout.staging.string, CacheLayout.foreignStaging.string].contains($0)
        },
        flush("of the destination folder", missedBy: "first open, LZ4") {
            $0 == SimulatedWorld.areas.documents.string || $0 == CacheLayout.files.string
        },
        flush("of the folder that backups exclude", missedBy: "Documents, no backup") {
            $0 == SimulatedWorld.excludedFolder.string
        },
        flush("of an identical file", missedBy: "identical file that was not flushed, lz4") {
            $0 == "text.txt" || $0 == "film.mp4"
        },
        Breakage(name: "publishing replaces", witness: "foreign file, LZ4", sabotage: { $0.kind == .rename }),
        Breakage(
            name: "no key locks", witness: "together beside an eviction at 63",
            sabotage: { $0.kind == .lock && $0.name.hasSuffix(".lock") }),
        Breakage(name: "intents are not flushed", witness: "first open, identity", unflushed: [.intent]),
        Breakage(name: "no intents", witness: "first open, identity", omitted: [.intent]),
    ]

    /// What only saves work after a crash, or stands behind another precaution.
    static let redundant: [Breakage] = [
        Breakage(name: "no leases", sabotage: { $0.kind == .lock && !$0.name.hasSuffix(".lock") }),
        Breakage(name: "no commits", omitted: [.committed]),
    ]

    private static func flush(
        _ name: String, missedBy witness: String = "", _ isMeant: @escaping @Sendable (String) -> Bool
    ) -> Breakage {
        Breakage(
            name: "no flush \(name)", witness: witness,
            sabotage: { $0.kind == .synchronize && isMeant($0.name) })
    }
}
