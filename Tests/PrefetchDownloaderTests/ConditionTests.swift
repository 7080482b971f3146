import Foundation
import HTTPTestServer
import PrefetchCaching
import Synchronization
import Testing

@testable import PrefetchDownloading

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Networks on which little is to be transferred, and devices that are to do little.
@Suite struct ConditionTests {
    private let cache: TestCache

    init() async throws { cache = try await TestCache() }

    /// The only network that there is.
    private final class Network: Sendable {
        private let state = Mutex<(isExpensive: Bool, asked: [NetworkConditions])>((false, []))

        var asked: [NetworkConditions] { state.withLock { $0.asked } }

        func become(expensive: Bool) { state.withLock { $0.isExpensive = expensive } }

        func require(_ network: NetworkConditions) throws(DownloadError.Reason) {
            let isAllowed = state.withLock { state in
                state.asked.append(network)
                return !state.isExpensive || network.allowsExpensive
            }
            if !isAllowed { throw .connection(.networkIsExpensive) }
        }
    }

    private final class Power: Sendable {
        private let state = Mutex<(isStrained: Bool, listener: AsyncStream<Void>.Continuation?)>((false, nil))

        func become(strained: Bool) {
            let listener = state.withLock { state in
                state.isStrained = strained
                return state.listener
            }
            listener?.yield()
        }

        var powerState: PowerState {
            PowerState(
                isStrained: { self.state.withLock { $0.isStrained } },
                changes: {
                    let (stream, continuation) = AsyncStream.makeStream(of: Void.self)
                    self.state.withLock { $0.listener = continuation }
                    return stream
                })
        }
    }

    private func downloader(
        _ cache: TestCache, _ network: Network = Network(), _ power: Power = Power(),
        _ change: (inout DownloaderConfiguration) -> Void = { _ in }
    ) -> PrefetchDownloader {
        cache.downloader(
            change,
            in: { environment in
                environment.restrict = { _, conditions throws(DownloadError.Reason) in
                    try network.require(conditions)
                }
                environment.power = power.powerState
            })
    }

    private func request(_ server: HTTPTestServer, _ network: NetworkConditions? = nil) -> DownloadRequest {
        var request = DownloadRequest(server.url())
        request.conditions = network.map { DownloadConditions(network: $0) }
        return request
    }

    // MARK: Networks

    @Test func opportunisticDownloadsSpareExpensiveNetworks() async throws {
        let server = try HTTPTestServer { resource.answer(to: $0) }
        let network = Network()
        network.become(expensive: true)
        let outcome = await downloader(cache, network).prefetch(request(server)).outcome
        #expect(outcome == .postponed(.unexpensiveNetwork, keptBytes: 0))
        // Not again within a minute: nothing will have changed.
        #expect(network.asked == [.unconstrained])
        #expect(await downloader(cache, network).prefetch(request(server, .any)).outcome.isStored)
    }

    @Test func theUserDoesNot() async throws {
        let server = try HTTPTestServer { resource.answer(to: $0) }
        let network = Network()
        network.become(expensive: true)
        let request = request(server).userRequested
        #expect(await downloader(cache, network).prefetch(request).outcome.delivered != nil)
    }

    @Test func theDefaultCanBeChanged() async throws {
        let server = try HTTPTestServer { resource.answer(to: $0) }
        let network = Network()
        network.become(expensive: true)
        let downloader = downloader(cache, network) { $0.conditions = .none }
        #expect(await downloader.prefetch(request(server)).outcome.isStored)
        #expect(network.asked == [.any])
    }

    /// Who allows more is not held up by who was first.
    @Test func whoAllowsMoreTakesTheOthersAlong() async throws {
        let gate = Gate()
        let server = try HTTPTestServer(
            inTurn: { resource.answer(to: $0).after(3_400_000) { gate.wait() }.cut(after: 3_400_000) },
            { resource.answer(to: $0) })
        let network = Network()
        let downloader = downloader(cache, network)
        let strict = downloader.prefetch(request(server))
        await strict.hasReceived(3_000_000)
        network.become(expensive: true)
        let other = downloader.prefetch(request(server, .any))
        gate.open()
        #expect(await other.outcome.isStored)
        #expect(await strict.outcome == other.outcome)
        #expect(network.asked == [.unconstrained, .any])
        #expect(server.requests.count == 2)
    }

    /// The network of who has left is not used any more.
    @Test func whoLeavesTakesThePermissionAlong() async throws {
        let gate = Gate()
        let server = try HTTPTestServer {
            resource.answer(to: $0).after(3_400_000) { gate.wait() }.cut(after: 3_400_000)
        }
        let network = Network()
        let downloader = downloader(cache, network)
        let lavish = downloader.prefetch(request(server, .any))
        let strict = downloader.prefetch(request(server))
        await strict.hasReceived(3_000_000)
        network.become(expensive: true)
        lavish.cancel()
        gate.open()
        #expect(await strict.outcome == .postponed(.unexpensiveNetwork, keptBytes: 3 << 20))
        #expect(network.asked == [.any, .unconstrained])
    }

    /// The first attempt fails for lack of a network, and the second is made since somebody has joined.
    @Test func whoJoinsWhileItFailsIsNotFailedWithIt() async throws {
        let server = try HTTPTestServer { resource.answer(to: $0) }
        let joined = Mutex<Download?>(nil)
        let asked = Mutex<[NetworkConditions]>([])
        let box = Mutex<PrefetchDownloader?>(nil)
        let wanted = request(server, .any)
        let downloader = cache.downloader(in: { environment in
            environment.restrict = { _, conditions throws(DownloadError.Reason) in
                asked.withLock { $0.append(conditions) }
                guard conditions == .unconstrained else { return }
                let download = box.withLock { $0 }?.prefetch(wanted)
                joined.withLock { $0 = download }
                throw .connection(.networkIsExpensive)
            }
        })
        box.withLock { $0 = downloader }
        #expect(await downloader.prefetch(request(server)).outcome.isStored)
        #expect(await joined.withLock { $0 }?.outcome.isStored == true)
        #expect(asked.withLock { $0 } == [.unconstrained, .any])
        box.withLock { $0 = nil }
    }

    // MARK: Power

    @Test func aDownloadPausesAndGoesOn() async throws {
        let server = try HTTPTestServer(breakingAt: 3_400_000, .stall)
        let power = Power()
        let downloader = downloader(cache, Network(), power)
        let download = downloader.prefetch(request(server))
        await download.hasReceived(3_400_000)
        power.become(strained: true)
        let paused = await download.event { if case .paused = $0 { true } else { false } }
        #expect(paused == .paused(keptBytes: 3 << 20))
        #expect(server.requests.count == 1)
        power.become(strained: false)
        #expect(await download.outcome.isStored)
        #expect(server.requests.map(\.rangeStart) == [nil, 3 << 20])
        #expect(try await cache.holds(content))
    }

    @Test func aStrainedDeviceBeginsNothingButWhatTheUserWants() async throws {
        let server = try HTTPTestServer { resource.answer(to: $0) }
        let power = Power()
        power.become(strained: true)
        let downloader = downloader(cache, Network(), power)
        let waiting = downloader.prefetch(request(server))
        let wanted = DownloadRequest(server.url("/other"), "other").userRequested
        #expect(await downloader.prefetch(wanted).outcome.delivered != nil)
        #expect(server.requests.map(\.target) == ["/other"])
        power.become(strained: false)
        #expect(await waiting.outcome.isStored)
    }

    /// What the user wants waits behind the paused download of its key, which therefore goes on.
    @Test func aPausedDownloadGoesOnForTheUser() async throws {
        let server = try HTTPTestServer(breakingAt: 3_400_000, .stall)
        let power = Power()
        let downloader = downloader(cache, Network(), power)
        let download = downloader.prefetch(request(server))
        await download.hasReceived(3_400_000)
        power.become(strained: true)
        _ = await download.event { if case .paused = $0 { true } else { false } }
        let wanted = request(server).userRequested
        #expect(await downloader.prefetch(wanted).outcome.delivered != nil)
        #expect(await download.outcome.isStored)
    }

    @Test func whatTheUserWaitsForIsNotPaused() async throws {
        let gate = Gate()
        let server = try HTTPTestServer { resource.answer(to: $0).after(2_200_000) { gate.wait() } }
        let power = Power()
        let downloader = downloader(cache, Network(), power)
        let wanted = request(server).userRequested
        let download = downloader.prefetch(wanted)
        await download.hasReceived(2_200_000)
        power.become(strained: true)
        gate.open()
        #expect(await download.outcome.delivered != nil)
        #expect(server.requests.count == 1)
    }

    @Test func pausingCanBeTurnedOff() async throws {
        let server = try HTTPTestServer { resource.answer(to: $0) }
        let power = Power()
        power.become(strained: true)
        let downloader = downloader(cache, Network(), power) { $0.pausesInLowPower = false }
        #expect(await downloader.prefetch(request(server)).outcome.isStored)
    }

    /// The device was strained after the download had its turn, and before it could be told.
    @Test func anAttemptThatBeginsTooLateEndsAtOnce() async throws {
        let request = DownloadRequest(URL(filePath: "/"), "item", .length(1))
        let job = DownloadJob(request, number: 1, at: 0, on: AdmissionTerms())
        _ = await job.attempt(storingIn: cache.cache, unless: { true }) { throw CacheError.cancelled }
        #expect(job.isPaused)
    }

    @Test func aPausedDownloadCanBeCancelled() async throws {
        let server = try HTTPTestServer { resource.answer(to: $0).cut(after: 3_400_000, .stall) }
        let power = Power()
        let downloader = downloader(cache, Network(), power)
        let download = downloader.prefetch(request(server))
        await download.hasReceived(3_400_000)
        power.become(strained: true)
        _ = await download.event { if case .paused = $0 { true } else { false } }
        download.cancel()
        #expect(await download.outcome == .cancelled(keptBytes: 3 << 20))
        #expect(try await cache.keptBytes() == 3 << 20)
    }
}
