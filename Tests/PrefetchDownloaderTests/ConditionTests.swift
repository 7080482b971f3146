import FileSystemTestSupport
import Foundation
import HTTPTestServer
import PrefetchCaching
import Synchronization
import SystemPackage
import Testing

@testable import PrefetchDownloading

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Networks on which little is to be transferred, and devices that are to do little.
@Suite struct ConditionTests {
    private let cache: TestCache

    /// The default.
    private let sparing: DownloadConditions = [.unconstrainedNetwork, .unexpensiveNetwork]

    init() async throws { cache = try await TestCache() }

    /// The only network that there is.
    private final class Network: Sendable {
        private let state = Mutex<(isExpensive: Bool, asked: [DownloadConditions])>((false, []))

        var asked: [DownloadConditions] { state.withLock { $0.asked } }

        func become(expensive: Bool) { state.withLock { $0.isExpensive = expensive } }

        func require(_ conditions: DownloadConditions) throws(DownloadError.Reason) {
            let isAllowed = state.withLock { state in
                state.asked.append(conditions)
                return !state.isExpensive || !conditions.contains(.unexpensiveNetwork)
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

    private func request(_ server: HTTPTestServer, _ conditions: DownloadConditions? = nil) -> DownloadRequest
    {
        var request = DownloadRequest(server.url())
        request.conditions = conditions
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
        #expect(network.asked == [sparing])
        #expect(await downloader(cache, network).prefetch(request(server, [])).outcome.isStored)
    }

    @Test func theUserDoesNot() async throws {
        let server = try HTTPTestServer { resource.answer(to: $0) }
        let network = Network()
        network.become(expensive: true)
        let request = request(server).userRequested
        #expect(await downloader(cache, network).prefetch(request).outcome.delivered != nil)
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
        let other = downloader.prefetch(request(server, []))
        gate.open()
        #expect(await other.outcome.isStored)
        #expect(await strict.outcome == other.outcome)
        #expect(network.asked == [sparing, []])
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
        let lavish = downloader.prefetch(request(server, []))
        let strict = downloader.prefetch(request(server))
        await strict.hasReceived(3_000_000)
        network.become(expensive: true)
        lavish.cancel()
        gate.open()
        #expect(await strict.outcome == .postponed(.unexpensiveNetwork, keptBytes: 3 << 20))
        #expect(network.asked == [[], sparing])
    }

    /// The first attempt fails for lack of a network, and the second is made since somebody has joined.
    @Test func whoJoinsWhileItFailsIsNotFailedWithIt() async throws {
        let server = try HTTPTestServer { resource.answer(to: $0) }
        let joined = Mutex<Download?>(nil)
        let asked = Mutex<[DownloadConditions]>([])
        let box = Mutex<PrefetchDownloader?>(nil)
        let wanted = request(server, [])
        let downloader = cache.downloader(in: { environment in
            environment.restrict = { _, conditions throws(DownloadError.Reason) in
                asked.withLock { $0.append(conditions) }
                guard !conditions.isEmpty else { return }
                let download = box.withLock { $0 }?.prefetch(wanted)
                joined.withLock { $0 = download }
                throw .connection(.networkIsExpensive)
            }
        })
        box.withLock { $0 = downloader }
        #expect(await downloader.prefetch(request(server)).outcome.isStored)
        #expect(await joined.withLock { $0 }?.outcome.isStored == true)
        #expect(asked.withLock { $0 } == [sparing, []])
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
        let (server, gate) = try heldServer()
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

/// Downloads whose conditions are not met.
@Suite struct PostponedTests {
    private let cache: TestCache

    init() async throws { cache = try await TestCache() }

    /// A device and its clock, as a test wants them.
    private final class Device: Sendable {
        private struct State {
            var now: Int64 = 1_700_000_000  // 22:13:20 in UTC
            var device = DeviceState()
            var problem: String?
            var reads = 0
        }

        private let state = Mutex(State())

        var now: Int64 { state.withLock { $0.now } }
        var reads: Int { state.withLock { $0.reads } }

        func pass(seconds: Int64) { state.withLock { $0.now += seconds } }
        func become(_ change: (inout DeviceState) -> Void) { state.withLock { change(&$0.device) } }
        func become(unknown problem: String) { state.withLock { $0.problem = problem } }

        func read() throws -> DeviceState {
            try state.withLock { state in
                state.reads += 1
                if let problem = state.problem { throw Problem(description: problem) }
                return state.device
            }
        }
    }

    private struct Problem: Error, CustomStringConvertible {
        let description: String
    }

    private let device = Device()

    private func downloader(
        _ cache: TestCache, _ change: (inout DownloadConditions) -> Void = { _ in }
    ) -> PrefetchDownloader {
        cache.downloader(
            { [device] configuration in
                configuration.device = { try device.read() }
                change(&configuration.conditions)
            },
            in: { [device] environment in
                environment.now = { device.now }
            })
    }

    @Test func aBatteryAMeterAndRestraintHaveTheirNames() async throws {
        let server = try HTTPTestServer { resource.answer(to: $0) }
        let cases: [(UnmetCondition, (inout DeviceState) -> Void)] = [
            (.externalPower, { $0.hasExternalPower = false }),
            (.unexpensiveNetwork, { $0.isNetworkExpensive = true }),
            (.unconstrainedNetwork, { $0.isNetworkConstrained = true }),
        ]
        for (condition, change) in cases {
            device.become {
                $0 = DeviceState()
                $0.hasExternalPower = true
                change(&$0)
            }
            device.pass(seconds: 10)
            let downloader = downloader(cache) { $0.insert(.externalPower) }
            #expect(
                await downloader.prefetch(DownloadRequest(server.url())).outcome
                    == .postponed(condition, keptBytes: 0))
        }
        #expect(server.requests.isEmpty)
        // Whoever does not mind is not asked about.
        let reads = device.reads
        #expect(
            await downloader(cache) { $0 = [] }.prefetch(DownloadRequest(server.url())).outcome.isStored)
        let requested = DownloadRequest(server.url(), "requested").userRequested
        #expect(await downloader(cache).prefetch(requested).outcome.delivered != nil)
        #expect(device.reads == reads)
    }

    @Test func whatIsNotKnownIsNotMet() async throws {
        let server = try HTTPTestServer { resource.answer(to: $0) }
        let downloader = downloader(cache) { $0.insert(.externalPower) }
        guard
            case .postponed(.unknown(let silent), 0) = await downloader.prefetch(
                DownloadRequest(server.url())
            ).outcome
        else { Issue.record("not postponed"); return }
        #expect(silent.contains("external power"))
        device.become(unknown: "no answer")
        device.pass(seconds: 10)
        #expect(
            await downloader.prefetch(DownloadRequest(server.url())).outcome
                == .postponed(.unknown("no answer"), keptBytes: 0))
        #expect(server.requests.isEmpty)
    }

    @Test func aTransferNoticesWithinTenSecondsThatTheCableIsOut() async throws {
        let (first, second) = (Gate(), Gate())
        let server = try HTTPTestServer {
            $0.rangeStart == nil
                ? resource.answer(to: $0).after(2_200_000) { first.wait() }
                : resource.answer(to: $0).after(1_000_000) { second.wait() }
        }
        device.become { $0.hasExternalPower = true }
        let downloader = downloader(cache) { $0.insert(.externalPower) }
        let download = downloader.prefetch(DownloadRequest(server.url()))
        await download.hasReceived(2_200_000)
        // Asked once, however many pieces have come.
        #expect(device.reads == 1)
        device.become { $0.hasExternalPower = false }
        device.pass(seconds: 10)
        first.open()
        guard case .postponed(.externalPower, let kept) = await download.outcome else {
            Issue.record("\(await download.outcome)")
            return
        }
        #expect(kept >= 2 << 20 && kept < content.count)
        // The user, who asks for it, has it without the cable.
        second.open()
        let wanted = DownloadRequest(server.url()).userRequested
        #expect(await downloader.prefetch(wanted).outcome.delivered != nil)
    }

    /// The bytes are spent once, and one of them allows it.
    @Test func whoJoinsWithoutConditionsTakesTheOthersAlong() async throws {
        let (server, gate) = try heldServer(after: 3_400_000)
        device.become { $0.hasExternalPower = true }
        let downloader = downloader(cache) { $0.insert(.externalPower) }
        let strict = downloader.prefetch(DownloadRequest(server.url()))
        await strict.hasReceived(3_400_000)
        device.become { $0.hasExternalPower = false }
        device.pass(seconds: 10)
        var free = DownloadRequest(server.url())
        free.conditions = []
        let other = downloader.prefetch(free)
        gate.open()
        #expect(await other.outcome.isStored)
        #expect(await strict.outcome == other.outcome)
        #expect(server.requests.count == 1)
    }

    @Test func whatIsCachedNeedsNoCondition() async throws {
        let server = try HTTPTestServer { resource.answer(to: $0) }
        #expect(await cache.download(DownloadRequest(server.url())).isStored)
        let downloader = downloader(cache) { $0.insert(.externalPower) }
        var request = DownloadRequest(server.url())
        request.whenCached = .keep
        #expect(await downloader.prefetch(request).outcome == .alreadyCached)
        _ = try await cache.cache.open("item")
        #expect(await downloader.prefetch(request).outcome.alreadyPromoted != nil)
    }

    #if os(Linux)
        @Test(arguments: [
            ([], true), (["AC/type=Mains", "AC/online=1"], true), (["AC/type=Mains", "AC/online=0"], true),
            (["AC/type=Mains", "AC/online=0", "BAT0/type=Battery", "BAT0/status=Discharging"], false),
            (["AC/type=Mains", "AC/online=1", "BAT0/type=Battery", "BAT0/status=Discharging"], true),
            (["BAT0/type=Battery", "BAT0/status=Full"], true),
            (["BAT0/type=Battery", "BAT0/status=Discharging"], false),
            (["mouse/type=Battery", "mouse/scope=Device", "mouse/status=Discharging"], true),
        ])
        func linuxTellsWhetherThereIsPower(_ files: [String], _ hasPower: Bool) throws {
            let folder = try TemporaryFolder()
            let supplies = folder.path.appending("power_supply").string
            for file in files {
                let parts = file.split(separator: "=")
                let url = URL(filePath: "\(supplies)/\(parts[0])")
                try FileManager.default.createDirectory(
                    at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
                try Data("\(parts[1])\n".utf8).write(to: url)
            }
            #expect(try DeviceState.ofSystem(in: supplies).hasExternalPower == hasPower)
        }
    #endif
}
