import FileSystemTestSupport
import Foundation
import HTTPTestServer
import PrefetchCaching
import SystemPackage
import Testing

@testable import PrefetchDownloading

/// Lists that exceed the budget, handed over at every launch.
@Suite struct FeedTests {
    static let length = 10_000
    static let count = 240
    static let budget = ByteCount.bytes(1_000_000)

    enum Order: CaseIterable {
        case same, ascending, descending, bySource
    }

    /// Hands the whole list over, as an app does at its launch, and waits for the end of all downloads.
    private func launch(
        _ names: [String], _ server: HTTPTestServer, in container: URL, announced: Bool = true,
        _ order: Order = .same,
        _ policy: EvictionPolicyChoice = .lru, _ admission: AdmissionMode = .evicting, transfers: Int = 4,
        sources: Int = 1, budget: ByteCount = Self.budget
    ) async throws -> (bytes: Int64, requests: Int, evicted: Int64, cached: Set<String>) {
        let (before, requestsBefore) = (server.bodyBytesSent, server.requests.count)
        let cache = try await PrefetchCache(areas: .container(at: container))
        try await cache.configure {
            $0.budget = .fixed(budget)
            $0.evictionPolicy = policy
        }
        let evictedBefore = try await cache.statistics().evictions
        var configuration = DownloaderConfiguration(hosts: ["127.0.0.1"])
        configuration.transfers = transfers
        let downloader = PrefetchDownloader(cache: cache, configuration: configuration, logger: .silent)
        let requests = try names.enumerated().map { index, name in
            var request = DownloadRequest(server.url("/\(name)"), try ItemKey(name))
            if announced { request.expectations = [.length(Int64(Self.length))] }
            request.whenCached = .keep
            request.admission = admission
            let source = name.utf8.reduce(0) { $0 + Int($1) } % sources
            request.source = "source \(source)"
            switch order {
            case .same: break
            case .ascending: request.priority = Float(index) / 1000
            case .descending: request.priority = 1 - Float(index) / 1000
            case .bySource: request.priority = 1 - Float(source) / 10
            }
            return request
        }
        for download in downloader.prefetch(requests) {
            switch await download.outcome {
            case .stored, .alreadyCached, .refused: break
            case let outcome: Issue.record("\(outcome)")
            }
            // As the maintenance in the background, which runs at times of its own.
            try await cache.trim()
        }
        let cached = Set(try await cache.items().map(\.key.string))
        let evicted = try await cache.statistics().evictions - evictedBefore
        try await cache.close()
        return (
            server.bodyBytesSent - before, server.requests.count - requestsBefore, evicted, cached
        )
    }

    private func server(varying: Bool = false) throws -> HTTPTestServer {
        try HTTPTestServer { request in
            let seed = request.target.utf8.reduce(UInt64(7)) { $0 &* 31 &+ UInt64($1) }
            let length = varying ? Self.length / 2 + Int(seed % UInt64(Self.length)) : Self.length
            return TestAnswer(200, ["ETag": "\"1\""], body: noise(length, seed: seed))
        }
    }

    private let names = (1...count).map { "item-\($0)" }

    @Test(
        arguments: TestRun.sample(
            2, of: [true, false].flatMap { announced in Order.allCases.map { (announced, $0) } }))
    func anUnchangedListIsNotDownloadedAgain(announced: Bool, order: Order) async throws {
        let folder = try TemporaryFolder()
        let server = try server()
        let container = URL(filePath: folder.path.string)
        let first = try await launch(names, server, in: container, announced: announced, order)
        #expect(first.cached.count >= 20)
        for _ in 0..<2 {
            let again = try await launch(names, server, in: container, announced: announced, order)
            // Transfers that overlap may all find the last place free: 4 of 240 items, less than 2 %.
            #expect(again.bytes * 50 <= Int64(Self.count * Self.length))
            #expect(again.cached.symmetricDifference(first.cached).count <= 8)
        }
    }

    @Test func theBeginningOfTheListIsKept() async throws {
        let folder = try TemporaryFolder()
        let server = try server()
        let container = URL(filePath: folder.path.string)
        let first = try await launch(names, server, in: container, transfers: 1)
        #expect(first.cached == Set(names.prefix(first.cached.count)))
        // The rows of the last items may take the space of one that was admitted.
        #expect(first.bytes <= Int64((first.cached.count + 1) * Self.length))

        // A new item takes the place of the last one.
        let second = try await launch(["new"] + names, server, in: container)
        #expect(second.bytes == Int64(Self.length))
        #expect(second.cached == Set(["new"] + names.prefix(first.cached.count - 1)))
    }

    /// Nothing is known of the lengths beforehand.
    @Test func whatHasNoRoomIsNotRequested() async throws {
        let folder = try TemporaryFolder()
        let server = try server()
        let container = URL(filePath: folder.path.string)
        let first = try await launch(
            names, server, in: container, announced: false, .bySource, sources: 6)
        #expect(first.requests <= first.cached.count + 24)
        // Of some sources nothing could be stored, so that the history has nothing of them.
        let again = try await launch(
            names, server, in: container, announced: false, .bySource, sources: 6)
        #expect(again.requests <= 24)
        #expect(again.evicted <= 4)
    }

    /// One list of several sources, which exceeds the budget, and has a new item at each launch.
    @Test func roomIsNotMadeOfWhatComesNext() async throws {
        let folder = try TemporaryFolder()
        let server = try server(varying: true)
        let container = URL(filePath: folder.path.string)
        let names = (1...800).map { "item-\($0)" }
        for number in 0..<3 {
            let launched = try await launch(
                (0..<number).map { "new-\($0)" } + names, server, in: container, announced: false,
                .descending, sources: 5, budget: .mebibytes(4))
            #expect(launched.requests <= (number == 0 ? launched.cached.count + 24 : 24))
            #expect(launched.evicted <= 6)
        }
    }

    @Test func anotherFeedGivesWay() async throws {
        let folder = try TemporaryFolder()
        let server = try server()
        let container = URL(filePath: folder.path.string)
        let old = (1...Self.count).map { "old-\($0)" }
        _ = try await launch(old, server, in: container)
        let new = try await launch(names, server, in: container)
        #expect(new.cached.isSubset(of: names))
    }

    @Test func whatIsForFreeSpaceOnlyDisplacesNothing() async throws {
        let folder = try TemporaryFolder()
        let server = try server()
        let container = URL(filePath: folder.path.string)
        let first = try await launch(Array(names.prefix(10)), server, in: container)
        let old = (1...Self.count).map { "old-\($0)" }
        let second = try await launch(
            old, server, in: container, .same, .lru, .onlyIntoFreeSpace, transfers: 1)
        #expect(second.cached.isSuperset(of: first.cached))
        #expect(second.cached.count >= 20)
        #expect(second.bytes == Int64((second.cached.count - 10) * Self.length))
    }
}
