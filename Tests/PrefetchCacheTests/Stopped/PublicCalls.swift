import Foundation
import PrefetchItemFormat
import PrefetchStorageAreas

@testable import PrefetchCaching

/// The calls of the public interface, one after the other as a user might make them: those that look first, those that
/// leave nothing behind last.
struct PublicCall: Sendable {
    let name: String
    private let body: @Sendable (PrefetchCache?) async throws -> Void

    init(opening name: String, _ body: @escaping @Sendable () async throws -> Void) {
        self.name = name
        self.body = { _ in try await body() }
    }

    init(_ name: String, _ make: @escaping @Sendable (PrefetchCache) async throws -> Void) {
        self.name = name
        body = { cache in if let cache { try await make(cache) } }
    }

    func make(_ cache: PrefetchCache?) async throws { try await body(cache) }

    static let all: [PublicCall] = [
        PublicCall("read") { _ = try await $0.read("text") },
        PublicCall("read a range") { _ = try await $0.read("noise", range: 10..<20) },
        PublicCall("read nothing") { _ = try await $0.read("absent") },
        PublicCall("read what was opened") { _ = try await $0.read("opened") },
        PublicCall("look up") { _ = try await $0.lookUp("delivered") },
        PublicCall("contains") { _ = try await $0.contains("other") },
        PublicCall("metadata") { _ = try await $0.metadata(of: "noise") },
        PublicCall("stream") { _ = try await $0.stream("other") { _ throws(CacheError) in } },
        PublicCall("status") { _ = try await $0.status(of: "text") },
        PublicCall("statistics") { _ = try await $0.statistics() },
        PublicCall("capacity") { _ = try await $0.capacity() },
        PublicCall("items") { _ = try await $0.items() },
        PublicCall("sources") { _ = try await $0.sources() },
        PublicCall("partials") { _ = try await $0.partials() },
        PublicCall("promoted files") { _ = try await $0.promotedFiles() },
        PublicCall("configuration") { _ = try await $0.configuration() },
        PublicCall("verify") { _ = try await $0.verify() },
        PublicCall("dry eviction") { _ = try await $0.evict(EvictionRequest(), dryRun: true) },
        PublicCall("dry purge") { _ = try await $0.purgeExcluded(unusedSince: .distantPast, dryRun: true) },
        PublicCall("dry repair") { _ = try await $0.repair(dryRun: true) },
        PublicCall("store") { _ = try await $0.store(noise(20_000), as: ItemMetadata("stored")) },
        PublicCall("store in pieces") { cache in
            guard
                case .writer(let writer) = try await cache.beginStoring(
                    ItemMetadata("pieces"), keepingPartial: true)
            else { return }
            _ = try await writer.write(noise(3 << 20))
            _ = try await writer.suspend()
            guard let partial = try await cache.partial(of: "pieces") else { return }
            if case .writer(let writer) = try await cache.resumeStoring(partial) {
                _ = try await writer.commit()
            }
        },
        PublicCall("discard a partial") { try await $0.discardPartial(of: "pieces") },
        PublicCall("pin") { try await $0.pin("other")?.release() },
        PublicCall("flush") { try await $0.flush() },
        PublicCall("trim") { try await $0.trim() },
        PublicCall("open") { _ = try await $0.open("text") },
        PublicCall("open what was opened") { _ = try await $0.open("opened") },
        PublicCall("open several") { cache in
            for result in try await cache.open(["noise", "other", "absent"]) { _ = try result.get() }
        },
        PublicCall("deliver") { cache in
            let metadata = ItemMetadata("delivered", to: .documents, intent: .userRequested)
            _ = try await cache.store(prose(50_000), as: metadata)
        },
        PublicCall("forget") { _ = try await $0.forget("opened") },
        PublicCall("remove") { _ = try await $0.remove("other") },
        PublicCall("configure") { _ = try await $0.configure { $0.budget = .fixed(.mebibytes(32)) } },
        PublicCall("evict") { _ = try await $0.evict(.kibibytes(10)) },
        PublicCall("purge") { _ = try await $0.purgeExcluded(unusedSince: .distantPast) },
        PublicCall("repair") { _ = try await $0.repair() },
        PublicCall("evict all") { _ = try await $0.evictAll() },
        PublicCall("close") { try await $0.close() },
    ]
}
