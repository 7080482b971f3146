import FileSystemTestSupport
import Foundation
import HTTPTestServer
import PrefetchCaching
import Synchronization
import Testing

@testable import PrefetchDownloading

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Several who want the same, and those who do not any more.
@Suite struct SharedDownloadTests {
    private let cache: TestCache

    init() async throws { cache = try await TestCache() }

    @Test func twoWhoWantTheSameShareOneDownload() async throws {
        let (server, gate) = try heldServer()
        let downloader = cache.downloader()
        let first = downloader.prefetch(DownloadRequest(server.url()))
        let second = downloader.prefetch(DownloadRequest(server.url()))
        await first.hasReceived(2_200_000)
        await second.hasReceived(2_200_000)
        gate.open()
        #expect(await first.outcome.isStored)
        #expect(await second.outcome == first.outcome)
        #expect(server.requests.count == 1)
    }

    @Test func whoLeavesDoesNotTakeTheDownloadAlong() async throws {
        let (server, gate) = try heldServer()
        let downloader = cache.downloader()
        let downloads = (0..<2).map { _ in downloader.prefetch(DownloadRequest(server.url())) }
        await downloads[1].hasReceived(2_200_000)
        downloads[0].cancel()
        #expect(await downloads[0].outcome == .cancelled(keptBytes: 0))
        gate.open()
        #expect(await downloads[1].outcome.isStored)
    }

    @Test func theLastWhoLeavesKeepsThePartial() async throws {
        let server = try HTTPTestServer(breakingAt: 3_400_000, .stall)
        let download = cache.downloader().prefetch(DownloadRequest(server.url()))
        await download.hasReceived(3_400_000)
        download.cancel()
        #expect(await download.outcome == .cancelled(keptBytes: 3 << 20))
        #expect(await cache.download(DownloadRequest(server.url())).isStored)
        #expect(server.requests[1].rangeStart == 3 << 20)
    }

    @Test func whoIsCancelledWaitsNoLonger() async throws {
        let server = try HTTPTestServer { resource.answer(to: $0).cut(after: 3_400_000, .stall) }
        let downloader = cache.downloader()
        let downloads = (0..<2).map { _ in downloader.prefetch(DownloadRequest(server.url())) }
        await downloads[0].hasReceived(3_400_000)
        let first = Task { await downloads[0].outcome }
        first.cancel()
        #expect(await first.value == .cancelled(keptBytes: 0))
        // The other goes on, until the last who waits is cancelled.
        let second = Task { await downloads[1].outcome }
        second.cancel()
        #expect(await second.value == .cancelled(keptBytes: 3 << 20))
    }

    /// What is cancelled is on its way out: who wants it again gets a download of their own, after it.
    @Test func whoComesWhileItEndsIsServedAfterwards() async throws {
        let server = try HTTPTestServer(breakingAt: 3_400_000, .stall)
        let downloader = cache.downloader()
        let first = downloader.prefetch(DownloadRequest(server.url()))
        await first.hasReceived(3_400_000)
        first.cancel()
        let second = downloader.prefetch(DownloadRequest(server.url()))
        #expect(await second.outcome.isStored)
        #expect(await first.outcome == .cancelled(keptBytes: 3 << 20))
    }

    @Test func whatIsNotTheSameWaitsForItsTurn() async throws {
        let server = try HTTPTestServer { resource.answer(to: $0) }
        let downloader = cache.downloader()
        let first = downloader.prefetch(DownloadRequest(server.url()))
        let second = downloader.prefetch(
            DownloadRequest(server.url(), "item", .sha256([UInt8](repeating: 0, count: 32))))
        #expect(await first.outcome.isStored)
        guard case .wrongDigest? = await second.outcome.error?.reason else { Issue.record("shared"); return }
        #expect(server.requests.count == 2)
    }

    @Test func whoWaitsForAnotherOfTheSameKeyCanBeCancelledAtOnce() async throws {
        let (server, gate) = try heldServer()
        let downloader = cache.downloader()
        let first = downloader.prefetch(DownloadRequest(server.url()))
        let second = downloader.prefetch(
            DownloadRequest(server.url(), "item", .sha256([UInt8](repeating: 0, count: 32))))
        await first.hasReceived(2_200_000)
        second.cancel()
        #expect(await second.outcome == .cancelled(keptBytes: 0))
        gate.open()
        #expect(await first.outcome.isStored)
        #expect(server.requests.count == 1)
    }

    @Test func requestsWithDifferentHeadersAreNotTheSame() {
        let request = DownloadRequest(URL(filePath: "/a")).with(["Authorization": "Bearer 1"])
        #expect(request.serves(request))
        #expect(!request.serves(request.with(["Authorization": "Bearer 2"])))
        #expect(!request.serves(DownloadRequest(URL(filePath: "/b")).with(["Authorization": "Bearer 1"])))
    }

    @Test func cancellingAllWaitsForWhatIsKept() async throws {
        let server = try HTTPTestServer { resource.answer(to: $0).cut(after: 2_200_000, .stall) }
        let downloader = cache.downloader()
        let downloads = try (0..<6).map {
            downloader.prefetch(DownloadRequest(server.url(), try ItemKey("\($0)")))
        }
        await downloads[0].hasReceived(2_200_000)
        await downloads[1].hasReceived(2_200_000)
        await downloader.cancelAll()
        #expect(try await cache.keptBytes("0") == 2 << 20)
        #expect(try await cache.keptBytes("1") == 2 << 20)
        for download in downloads[2...] { #expect(await download.outcome == .cancelled(keptBytes: 0)) }
    }

    @Test func neverMoreTransfersThanConfigured() async throws {
        let busy = Mutex((count: 0, most: 0))
        let gate = Gate()
        let server = try HTTPTestServer { request in
            busy.withLock { $0 = ($0.count + 1, max($0.most, $0.count + 1)) }
            return TestAnswer(200, body: Data("x".utf8)).after(0) {
                if busy.withLock(\.count) >= 2 { gate.open() }
                gate.wait()
                busy.withLock { $0.count -= 1 }
            }
        }
        let downloads = cache.downloader { $0.transfersPerHost = 2 }
            .prefetch(try (0..<12).map { DownloadRequest(server.url(), try ItemKey("\($0)")) })
        for download in downloads { #expect(await download.outcome.isStored) }
        #expect(busy.withLock(\.most) == 2)
    }
}

/// The order of those who wait.
@Suite struct SlotQueueTests {
    private func entry(
        _ number: Int, _ host: String = "a", _ priority: Float = 0, requested: Bool = false
    ) -> SlotQueue.Entry {
        SlotQueue.Entry(number: number, host: host, isRequested: requested, priority: priority)
    }

    /// Against a queue that is one sorted list.
    @Test(arguments: 0..<20 as Range<UInt64>)
    func itAgreesWithAList(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var queue = SlotQueue(limit: 4, limitPerHost: 2)
        var waiting: [SlotQueue.Entry] = []
        var running: [SlotQueue.Entry] = []
        for number in 0..<300 {
            switch Int.random(in: 0..<4, using: &random) {
            case 0, 1:
                let entry = entry(
                    number, ["a", "b", "c"].randomElement(using: &random) ?? "a",
                    Float(Int.random(in: 0..<3, using: &random)), requested: .random(using: &random))
                queue.add(entry)
                waiting.append(entry)
            case 2:
                guard let entry = (waiting + running).randomElement(using: &random) else { continue }
                queue.remove(entry.number)
                waiting.removeAll { $0.number == entry.number }
                running.removeAll { $0.number == entry.number }
            default:
                guard let index = waiting.indices.randomElement(using: &random) else { continue }
                queue.raise(waiting[index].number)
                waiting[index].isRequested = true
            }
            var started: [Int] = []
            for entry in waiting.sorted(by: { $0.precedes($1) })
            where running.count < 4 && running.count(where: { $0.host == entry.host }) < 2 {
                running.append(entry)
                started.append(entry.number)
            }
            waiting.removeAll { started.contains($0.number) }
            #expect(queue.start() == started)
        }
    }
}
