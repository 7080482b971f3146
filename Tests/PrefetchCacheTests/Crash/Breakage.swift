import FileSystemTestSupport
import SystemPackage
import Testing

@testable import PrefetchCache

/// One of the precautions of promotion, taken out.
struct Breakage: Sendable, CustomTestStringConvertible {
    let name: String
    /// The operations that only claim to have done their work.
    var sabotage: @Sendable (FileSystemTestSupport.Operation) -> Bool = { _ in false }
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
        flush("of what is staged") { $0.count > 33 },
        flush("of the staging folder") {
            [CacheLayout.staging.string, CacheLayout.foreignStaging.string].contains($0)
        },
        flush("of the destination folder") {
            $0 == SimulatedWorld.areas.documents.string || $0 == CacheLayout.files.string
        },
        flush("of an identical file") { $0 == "text.txt" || $0 == "film.mp4" },
        Breakage(name: "publishing replaces", sabotage: { $0.kind == .rename }),
        Breakage(name: "no key locks", sabotage: { $0.kind == .lock && $0.name.hasSuffix(".lock") }),
        Breakage(name: "intents are not flushed", unflushed: [.intent]),
        Breakage(name: "no intents", omitted: [.intent]),
    ]

    /// What only saves work after a crash, or stands behind another precaution.
    static let redundant: [Breakage] = [
        Breakage(name: "no leases", sabotage: { $0.kind == .lock && !$0.name.hasSuffix(".lock") }),
        Breakage(name: "commits are not flushed", unflushed: [.committed]),
        Breakage(name: "no commits", omitted: [.committed]),
    ]

    private static func flush(_ name: String, _ isMeant: @escaping @Sendable (String) -> Bool) -> Breakage {
        Breakage(name: "no flush \(name)", sabotage: { $0.kind == .synchronize && isMeant($0.name) })
    }
}
