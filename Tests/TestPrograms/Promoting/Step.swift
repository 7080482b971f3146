internal import ArgumentParser
internal import Foundation
internal import PrefetchCaching

/// One thing to do: `open=KEY`; `deliver=KEY=FILE` for an item that the user asked for; `store=KEY`, of content that
/// does not matter; `read=KEY`; or `statistics`, `configure`, `evict` and `close`.
enum Step: ExpressibleByArgument {
    case open(ItemKey)
    case deliver(ItemKey, contentsOf: URL)
    case store(ItemKey)
    case read(ItemKey)
    case statistics, configure, evict, close

    init?(argument: String) {
        let parts = argument.split(separator: "=", maxSplits: 2).map(String.init)
        do {
            switch (parts.first, parts.count) {
            case ("open", 2): self = .open(try ItemKey(parts[1]))
            case ("deliver", 3):
                self = .deliver(try ItemKey(parts[1]), contentsOf: URL(filePath: parts[2]))
            case ("store", 2): self = .store(try ItemKey(parts[1]))
            case ("read", 2): self = .read(try ItemKey(parts[1]))
            case ("statistics", 1): self = .statistics
            case ("configure", 1): self = .configure
            case ("evict", 1): self = .evict
            case ("close", 1): self = .close
            default: return nil
            }
        } catch {
            return nil
        }
    }

    /// The key, or what is done.
    var name: String {
        switch self {
        case .open(let key), .deliver(let key, _), .store(let key), .read(let key): key.string
        default: "\(self)"
        }
    }

    /// - Returns: `nil` for a miss and for a refusal.
    func take(in cache: PrefetchCache) async throws -> PromotedFile? {
        switch self {
        case .open(let key): return try await cache.open(key)
        case .deliver(let key, let file):
            var metadata = ItemMetadata(
                key: key, destination: .documents(FileName(sanitizing: key.string)))
            metadata.intent = .userRequested
            // A folder is the source of a bundle.
            let outcome =
                try file.resourceValues(forKeys: [.isDirectoryKey]).isDirectory == true
                ? try await cache.store(contentsOfFolder: file, as: metadata)
                : try await cache.store(contentsOf: file, as: metadata)
            guard case .delivered(let opened) = outcome else { return nil }
            return opened
        case .store(let key):
            let destination = Destination.documents(FileName(sanitizing: key.string))
            let content = [UInt8](repeating: 7, count: 10_000)
            try await cache.store(content, as: ItemMetadata(key: key, destination: destination))
        case .read(let key): _ = try await cache.read(key)
        case .statistics: _ = try await cache.statistics()
        case .configure: try await cache.configure { $0.budget = .fixed(.mebibytes(64)) }
        case .evict: try await cache.evictAll()
        case .close: try await cache.close()
        }
        return nil
    }
}
