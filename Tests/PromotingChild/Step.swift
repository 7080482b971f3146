internal import ArgumentParser
internal import Foundation
internal import PrefetchCache

/// One thing to do: `open=KEY`, or `deliver=KEY=FILE` for an item that the user asked for.
enum Step: ExpressibleByArgument {
    case open(ItemKey)
    case deliver(ItemKey, contentsOf: URL)

    init?(argument: String) {
        let parts = argument.split(separator: "=", maxSplits: 2).map(String.init)
        do {
            switch (parts.first, parts.count) {
            case ("open", 2): self = .open(try ItemKey(parts[1]))
            case ("deliver", 3):
                self = .deliver(try ItemKey(parts[1]), contentsOf: URL(filePath: parts[2]))
            default: return nil
            }
        } catch {
            return nil
        }
    }

    var key: ItemKey {
        switch self {
        case .open(let key), .deliver(let key, _): key
        }
    }

    /// - Returns: `nil` for a miss and for a refusal.
    func take(in cache: PrefetchCache) async throws -> OpenedItem? {
        switch self {
        case .open(let key): return try await cache.open(key)
        case .deliver(let key, let file):
            var metadata = ItemMetadata(
                key: key, destination: .documents(FileName(sanitizing: key.string)))
            metadata.intent = .userRequested
            guard case .delivered(let opened) = try await cache.store(contentsOf: file, as: metadata)
            else { return nil }
            return opened
        }
    }
}
