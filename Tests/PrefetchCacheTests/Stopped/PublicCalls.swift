import Foundation

@testable import PrefetchCaching
@testable import testprograms

/// A call of the public interface.
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
}

extension PublicCall {
    /// The numbers of items that are cached, and of one that was opened.
    static let cached = [11, 12]
    static let opened = 14
    /// An excluded one, which may be purged, and one that nobody stored.
    private static let (excluded, absent) = (3, 15)

    /// Answered whatever others hold.
    static let reads: [APICall.Operation] = [.read, .readRange, .lookUp, .contains, .metadata, .stream]

    private static let looks: [APICall.Operation] = [
        .status, .statistics, .capacity, .items, .sources, .partials, .promoted, .configuration, .verify,
    ]

    private static let changes: [APICall.Operation] = [
        .storeData, .storeBytes, .storeFile, .storeInPieces, .keepPieces, .partial, .resume, .discard,
        .request,
        .pin, .flush, .trim, .open, .openSeveral, .openWithProgress, .forget, .remove, .configure,
        .configureAll,
        .evictBytes, .evictSource, .purgeExcluded, .repair, .evictAll,
    ]

    /// All of them, one after the other as a user might make them in a container: those that look first, those that leave
    /// nothing behind last. Odd numbers make some of them in earnest that others only try.
    static func all(in container: String) -> [PublicCall] {
        func call(_ operation: APICall.Operation, _ number: Int) -> PublicCall {
            PublicCall(operation.rawValue) { cache in
                let faults = try await APICall(cache, inContainer: container, seed: UInt64(number)).run(
                    operation)
                if !faults.isEmpty { throw Wrong(faults: faults) }
            }
        }
        return [cached[0], opened, absent].flatMap { number in reads.map { call($0, number) } }
            + [cached[1], opened].flatMap { number in looks.map { call($0, number) } }
            + [cached[1], cached[0]].flatMap { number in changes.map { call($0, number) } }
            + [call(.open, opened), call(.forget, opened), call(.purgeExcluded, excluded)]
            + [PublicCall("close") { try await $0.close() }]
    }

    private struct Wrong: Error {
        let faults: [String]
    }
}
