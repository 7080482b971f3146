import FileSystemTestSupport
import Foundation
import SystemPackage

@testable import PrefetchCaching

/// Items that become folders.
extension CrashWorkload {
    static let site = SimulatedItem(
        bundle: "site", .lz4,
        ["index.html": 5000, "empty": 0, "images/a.png": 3000, "images/small/b.png": 1000])
    private static let model = SimulatedItem(
        bundle: "model", .identity, ["weights": 9000, "labels.txt": 100])

    static var bundles: [CrashWorkload] {
        [
            openingBundle("a bundle, LZ4", site),
            openingBundle("a bundle, identity", model),
            openingBundle("a bundle beside a foreign file", site, foreign: ["site": strange]),
            openingBundle("a bundle beside a foreign folder", site, foreign: ["site/mine.txt": strange]),
            openingBundle("a bundle on another volume", site, otherVolume: documents),
            openingBundle(
                "a bundle without backup", SimulatedItem(bundle: "site", of: site, backup: .exclude)),
            bundlesTogether, deliveredBundle,
            purging("a purged bundle", SimulatedItem(bundle: "site", of: site, backup: .exclude)),
            deleting("a deleted bundle", site),
        ]
            + (1...3).map(recoveredBundle)
    }

    private static func openingBundle(
        _ name: String, _ item: SimulatedItem, foreign: [String: [UInt8]] = [:], otherVolume: FilePath? = nil
    ) -> CrashWorkload {
        var workload = CrashWorkload(name: name, kept: [item]) { world in
            try world.open(item.key, world.engine())
        }
        for (name, content) in foreign { workload.foreign[documents.appending(name).string] = content }
        workload.otherVolume = otherVolume
        return workload
    }

    private static var bundlesTogether: CrashWorkload {
        let items = [site, text, model, film]
        return CrashWorkload(name: "bundles together", kept: items) { world in
            try world.open(items.map(\.key), world.engine())
        }
    }

    private static var deliveredBundle: CrashWorkload {
        var workload = CrashWorkload(name: "a delivered bundle") { world in try world.deliver(model) }
        workload.volatile = [model]
        return workload
    }

    private static func recoveredBundle(after changes: Int) -> CrashWorkload {
        var workload = openingBundle("recovery of a bundle \(changes)", site)
        workload.prepare = { world in try world.dieOpening(site.key, after: changes) }
        return workload
    }
}

extension SimulatedWorld {
    /// Stores an item that its user asks for, and notes what was told.
    func deliver(_ item: SimulatedItem, whenPromoted: WhenPromoted = .leave) throws {
        var metadata = item.metadata
        metadata.intent = .userRequested
        let engine = try engine()
        guard
            case .begun(let store) = try engine.beginStore(
                metadata, encoding: .automatic, expectedLength: Int64(item.content.count),
                whenPromoted: whenPromoted)
        else { return }
        let outcome = try store.commit(appending: Data(item.content))
        if case .delivered(let opened) = outcome { note(opened) }
    }
}

extension SimulatedItem {
    /// A bundle in Documents.
    init(bundle key: ItemKey, _ encoding: ItemEncoding, _ files: KeyValuePairs<FolderPath, Int64>) {
        self.init(key, encoding, length: Int(files.reduce(0) { $0 + $1.value }), seed: 21)
        metadata.parts = files.map { BundlePart($0.key, contentBytes: $0.value) }
    }

    init(bundle key: ItemKey, of other: SimulatedItem, backup: BackupPolicy) {
        self = other
        metadata.destination = .documents(other.destination.name, backup: backup)
    }
}
