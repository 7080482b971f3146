import Foundation
import HTTPTestServer
import PrefetchCaching
import Testing

@testable import PrefetchDownloading

/// Downloads that the cache has no room for.
@Suite struct AdmissionTests {
    /// Bytes that a server sends before it waits for what the cache says.
    private static let beginning = 64 << 10

    @Test func whatIsRefusedIsNotDownloaded() async throws {
        let cache = try await TestCache(budget: .mebibytes(20))
        let gate = Gate()
        let body = Data(count: 64 << 20)
        let server = try HTTPTestServer { _ in
            TestAnswer(200, ["ETag": "\"1\""], body: body).after(Self.beginning) { gate.wait() }
        }
        let outcome = await cache.download(DownloadRequest(server.url()))
        guard case .refused(.largerThanLargestItem, keptBytes: 0) = outcome else {
            Issue.record("\(outcome)"); return
        }
        #expect(server.bodyBytesSent <= Self.beginning)
        gate.open()
        await server.heldUp()
        // No more than the sockets take by themselves, whose limits are the system's.
        #expect(server.bodyBytesSent < body.count)
    }

    @Test func whereNothingIsStoredTheServerIsNotAsked() async throws {
        let cache = try await TestCache()
        try await cache.cache.configure { $0.isStoringEnabled = false }
        let server = try HTTPTestServer { _ in TestAnswer(body: noise(1000)) }
        #expect(await cache.download(DownloadRequest(server.url())) == .refused(.disabled, keptBytes: 0))
        #expect(server.requests.isEmpty)
        #expect(try await cache.cache.statistics().refusals["disabled"] == 1)
    }

    /// 100 MB are asked for and 20 MB may be stored.
    @Test func theBudgetIsNeverPassed() async throws {
        let budget: Int64 = 20_000_000
        let cache = try await TestCache(budget: .bytes(budget))
        let body = noise(5_000_000)
        let gates = (0..<20).map { _ in Gate() }
        let server = try HTTPTestServer { request in
            let gate = gates[Int(request.target.dropFirst()) ?? 0]
            return TestAnswer(200, ["ETag": "\"1\""], body: body).after(Self.beginning) { gate.wait() }
        }
        var requests: [DownloadRequest] = []
        for number in 0..<20 {
            var request = DownloadRequest(server.url("/\(number)"), try ItemKey("item \(number)"))
            // The later ones must not make the earlier ones go.
            request.priority = 1 - Float(number) / 100
            requests.append(request)
        }
        let downloads = cache.downloader().prefetch(requests)
        var stored = 0
        var refused = 0
        for (download, gate) in zip(downloads, gates) {
            for await event in download.events {
                let report = try await cache.cache.capacity()
                #expect(report.chargedBytes + report.heldBytes + report.catalogBytes <= budget)
                // What is written was admitted.
                if case .progress = event { gate.open() }
                guard case .finished(let outcome) = event else { continue }
                switch outcome {
                case .stored: stored += 1
                case .refused(.lowPriority, _), .refused(.overBudget, _): refused += 1
                default: Issue.record("\(outcome)")
                }
            }
        }
        #expect(stored == 3)
        #expect(stored + refused == 20)
        #expect(server.bodyBytesSent <= Int64(stored * body.count + refused * Self.beginning))
        for gate in gates { gate.open() }
        #expect(try await cache.cache.statistics().refusals.values.reduce(0, +) == Int64(refused))
    }

    @Test func aRefusalOfTheRestKeepsThePartial() async throws {
        let cache = try await TestCache()
        let server = try HTTPTestServer(breakingAt: 2_200_000)
        _ = await cache.download(DownloadRequest(server.url())) { $0.attempts = 1 }
        try await cache.cache.configure { $0.isStoringEnabled = false }
        #expect(
            await cache.download(DownloadRequest(server.url())) == .refused(.disabled, keptBytes: 2 << 20))
        #expect(server.requests.count == 1)
        try await cache.cache.configure { $0.isStoringEnabled = true }
        #expect(await cache.download(DownloadRequest(server.url())).isStored)
        #expect(server.requests.last?.rangeStart == 2 << 20)
    }

    /// A length that nobody announced shows itself too late.
    @Test(arguments: [true, false])
    func aRefusalInTheMiddleKeepsWhatMayBeGoneOnWith(mayEverFit: Bool) async throws {
        let cache = try await TestCache()
        try await cache.cache.configure {
            $0.budget = .fixed(.mebibytes(4))
            $0.largestItem = mayEverFit ? .mebibytes(4) : .mebibytes(3)
        }
        // What was used before must not go for what nobody has used yet.
        let valued = ItemMetadata(
            key: "valued", source: "test", destination: .documents("Valued"), priority: 1)
        _ = try await cache.cache.store(noise(1_000_000, seed: 3), as: valued)
        let server = try HTTPTestServer { request in
            let answer = resource.answer(to: request)
            return request.rangeStart == nil ? answer.endingWithItsConnection : answer
        }
        let request = DownloadRequest(server.url(), "item", .sha256(contentDigest))
        let outcome = await cache.download(request)
        guard case .refused(let refusal, let keptBytes) = outcome else {
            Issue.record("\(outcome)")
            return
        }
        if case .largerThanLargestItem = refusal { #expect(!mayEverFit) } else { #expect(mayEverFit) }
        #expect(try await cache.keptBytes() == keptBytes)
        #expect((keptBytes > 0) == mayEverFit)
        try await cache.cache.configure { $0 = CacheConfiguration(budget: .fixed(.mebibytes(16))) }
        #expect(await cache.download(request).isStored)
        #expect(server.requests.last?.rangeStart.map(Int64.init) == (mayEverFit ? keptBytes : nil))
        #expect(try await cache.holds(content))
    }

    @Test func whatTheUserAskedForSaysWhatIsMissing() async throws {
        let volume = ToldVolume(VolumeState(total: 1 << 30, available: 100 << 20))
        let cache = try await TestCache(volume: volume)
        let server = try HTTPTestServer { _ in TestAnswer(200, body: Data(count: 200 << 20)) }
        let outcome = await cache.download(DownloadRequest(server.url()).userRequested)
        #expect(try #require(outcome.neededBytes) >= 200 << 20)
    }
}

/// A volume that becomes short of space while something is downloaded.
@Suite struct PressureTests {
    private let roomy = VolumeState(total: 10 << 30, available: 5 << 30)
    /// Less than the reserve.
    private let elevated = VolumeState(total: 10 << 30, available: 1 << 30)

    @Test func whatNobodyAskedForGivesWayAndKeepsItsBytes() async throws {
        let volume = ToldVolume(roomy)
        let cache = try await TestCache(volume: volume)
        let server = try HTTPTestServer(breakingAt: 2_200_000, .stall)
        let download = cache.downloader().prefetch(DownloadRequest(server.url()))
        await download.hasReceived(2_200_000)
        volume.tell(elevated)
        try await cache.cache.trim()
        // What is kept is as much a cached thing as any, and goes when the cache must.
        #expect(await download.outcome.refusal == .pressure(.elevated))
        volume.tell(roomy)
        try await cache.cache.trim()
        #expect(await cache.download(DownloadRequest(server.url())).isStored)
        #expect(try await cache.holds(content))
    }

    @Test func whatTheUserAskedForGoesOn() async throws {
        let volume = ToldVolume(roomy)
        let cache = try await TestCache(volume: volume)
        let gate = Gate()
        let server = try HTTPTestServer { request in
            request.target == "/asked"
                ? resource.answer(to: request).after(2_200_000) { gate.wait() }
                : resource.answer(to: request).cut(after: 2_200_000, .stall)
        }
        let downloader = cache.downloader()
        let request = DownloadRequest(server.url("/asked"), "asked").userRequested
        let asked = downloader.prefetch(request)
        let guess = downloader.prefetch(DownloadRequest(server.url("/guess"), "guess"))
        await asked.hasReceived(2_200_000)
        await guess.hasReceived(2_200_000)
        volume.tell(elevated)
        try await cache.cache.trim()
        #expect(await guess.outcome.refusal == .pressure(.elevated))
        gate.open()
        let file = try #require(await asked.outcome.delivered)
        #expect(try isContent(file.url))
    }
}
