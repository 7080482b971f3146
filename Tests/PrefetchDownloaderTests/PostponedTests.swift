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
                configuration.device = DeviceStateSource { try device.read() }
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
            let downloader = downloader(cache) { $0.requiresExternalPower = true }
            #expect(
                await downloader.prefetch(DownloadRequest(server.url())).outcome
                    == .postponed(condition, keptBytes: 0))
        }
        #expect(server.requests.isEmpty)
        // Whoever does not mind is not asked about.
        let reads = device.reads
        #expect(
            await downloader(cache) { $0 = .none }.prefetch(DownloadRequest(server.url())).outcome.isStored)
        let requested = DownloadRequest(server.url(), "requested").userRequested
        #expect(await downloader(cache).prefetch(requested).outcome.delivered != nil)
        #expect(device.reads == reads)
    }

    @Test func whatIsNotKnownIsNotMet() async throws {
        let server = try HTTPTestServer { resource.answer(to: $0) }
        let downloader = downloader(cache) { $0.requiresExternalPower = true }
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
        let downloader = downloader(cache) { $0.requiresExternalPower = true }
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
        let gate = Gate()
        let server = try HTTPTestServer { resource.answer(to: $0).after(3_400_000) { gate.wait() } }
        device.become { $0.hasExternalPower = true }
        let downloader = downloader(cache) { $0.requiresExternalPower = true }
        let strict = downloader.prefetch(DownloadRequest(server.url()))
        await strict.hasReceived(3_400_000)
        device.become { $0.hasExternalPower = false }
        device.pass(seconds: 10)
        var free = DownloadRequest(server.url())
        free.conditions = DownloadConditions.none
        let other = downloader.prefetch(free)
        gate.open()
        #expect(await other.outcome.isStored)
        #expect(await strict.outcome == other.outcome)
        #expect(server.requests.count == 1)
    }

    @Test func conditionsUniteToWhatAsksForLess() {
        var one = DownloadConditions()
        one.requiresExternalPower = true
        var other = one
        other.network.allowsExpensive = true
        let both = one.union(other)
        #expect(both.requiresExternalPower && both.network.allowsExpensive)
        #expect(!both.network.allowsConstrained)
        #expect(one.union(.none) == .none && DownloadConditions.none.union(one) == .none)
    }

    @Test func whatIsCachedNeedsNoCondition() async throws {
        let server = try HTTPTestServer { resource.answer(to: $0) }
        #expect(await cache.download(DownloadRequest(server.url())).isStored)
        let downloader = downloader(cache) { $0.requiresExternalPower = true }
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
            #expect(try PowerSupplies.state(in: supplies).hasExternalPower == hasPower)
        }
    #endif
}
