internal import Foundation
internal import PrefetchCache

/// The cache itself.
struct CacheStoring: DownloadStoring {
    let cache: PrefetchCache

    var pressure: AsyncStream<Pressure> {
        let events = cache.events
        return AsyncStream { continuation in
            let task = Task {
                for await case .pressure(let level) in events { continuation.yield(level) }
                continuation.finish()
            }
            continuation.onTermination = { _ in task.cancel() }
        }
    }

    func refusal(of key: ItemKey) async throws(CacheError) -> Refusal? { try await cache.refusal(of: key) }

    func promoted(_ key: ItemKey) async throws(CacheError) -> OpenedItem? {
        guard case .promoted(let item)? = try await cache.status(of: key) else { return nil }
        return item
    }

    func description(
        of key: ItemKey
    ) async throws(CacheError) -> (metadata: ItemMetadata, contentLength: Int64)? {
        try await cache.description(of: key)
    }

    func open(_ key: ItemKey) async throws(CacheError) -> OpenedItem? { try await cache.open(key) }

    func replay(
        _ key: ItemKey, to sink: @Sendable (UnsafeRawBufferPointer) -> Void
    ) async throws(CacheError) -> Bool {
        do throws(CacheError) {
            return try await cache.check(key, with: sink).value != nil
        } catch .item {
            // The item is damaged, and was moved to the quarantine.
            return false
        }
    }

    func partial(of key: ItemKey) async throws(CacheError) -> PartialItem? {
        try await cache.partial(of: key)
    }

    func begin(
        _ metadata: ItemMetadata, expectedLength: Int64?, keepingPartial: Bool, forgettingPromotion: Bool
    ) async throws(CacheError) -> StoringStart {
        switch try await cache.beginStoring(
            metadata, expectedLength: expectedLength, keepingPartial: keepingPartial,
            forgettingPromotion: forgettingPromotion)
        {
        case .writer(let writer): .writer(writer)
        case .refused(let refusal): .refused(refusal)
        }
    }

    func resume(
        _ partial: PartialItem, forgettingPromotion: Bool,
        replay: (@Sendable (UnsafeRawBufferPointer) -> Void)?
    ) async throws(CacheError) -> StoringStart {
        switch try await cache.resumeStoring(
            partial, forgettingPromotion: forgettingPromotion, replay: replay)
        {
        case .writer(let writer): .writer(writer)
        case .refused(let refusal): .refused(refusal)
        case .gone: .gone
        }
    }

    func discardPartial(of key: ItemKey) async throws(CacheError) {
        try await cache.discardPartial(of: key)
    }
}

extension CacheWriter: ContentWriting {
    func keep() async throws(CacheError) -> Int64 {
        try await suspend()?.contentLength ?? 0
    }
}
