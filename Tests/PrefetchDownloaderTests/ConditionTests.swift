import FileSystemTestSupport
import Foundation
import HTTPTestServer
import PrefetchCaching
import Synchronization
import SystemPackage
import Testing

@testable import PrefetchDownloading

/// Networks on which little is to be transferred, and devices that are to do little.
@Suite struct ConditionTests {
    private let cache: TestCache

    init() async throws { cache = try await TestCache() }

    /// A device and its clock, as a test wants them.
    private final class Device: Sendable {
        private struct State {
            var now: Int64 = 1_700_000_000
            var device: DeviceState? = DeviceState()
            var reads = 0
        }

        private let state = Mutex(State())

        var now: Int64 { state.withLock { $0.now } }
        var reads: Int { state.withLock { $0.reads } }

        /// Its change is noticed.
        func become(_ change: (inout DeviceState?) -> Void) {
            state.withLock { state in
                state.now += 10
                change(&state.device)
            }
        }

        func read() throws -> DeviceState {
            try state.withLock { state in
                state.reads += 1
                guard let device = state.device else { throw CocoaError(.fileReadUnknown) }
                return device
            }
        }
    }

    private let device = Device()

    private func downloader(
        _ change: (inout DownloadConditions) -> Void = { _ in }
    ) -> PrefetchDownloader {
        cache.downloader(
            { [device] configuration in
                configuration.device = { try device.read() }
                change(&configuration.conditions)
            },
            in: { [device] environment in environment.now = { device.now } })
    }

    @Test func aConditionThatIsNotMetIsNamed() async throws {
        let server = try HTTPTestServer { resource.answer(to: $0) }
        let cases: [(UnmetCondition, (inout DeviceState) -> Void)] = [
            (.externalPower, { $0.hasExternalPower = false }), (.unknown, { $0.hasExternalPower = nil }),
            (.unexpensiveNetwork, { $0.isNetworkExpensive = true }),
            (.unconstrainedNetwork, { $0.isNetworkConstrained = true }),
            (.unstrainedDevice, { $0.isStrained = true }),
        ]
        let downloader = downloader { $0.insert(.externalPower) }
        for (condition, change) in cases {
            device.become { device in
                var state = DeviceState()
                state.hasExternalPower = true
                change(&state)
                device = state
            }
            let outcome = await downloader.prefetch(DownloadRequest(server.url())).outcome
            #expect(outcome == .postponed(condition, keptBytes: 0))
        }
        device.become { $0 = nil }
        let outcome = await downloader.prefetch(DownloadRequest(server.url())).outcome
        #expect(outcome == .postponed(.unknown, keptBytes: 0))
        #expect(server.requests.isEmpty)
        // Whoever does not mind is not asked about: the user, and who says so.
        let reads = device.reads
        var free = DownloadRequest(server.url())
        free.conditions = []
        #expect(await downloader.prefetch(free).outcome.isStored)
        let requested = DownloadRequest(server.url(), "requested").userRequested
        #expect(await downloader.prefetch(requested).outcome.delivered != nil)
        #expect(device.reads == reads)
    }

    /// On Apple platforms the system tells of the network by an error of the transfer.
    @Test(arguments: [
        (TransferFailure.networkIsExpensive, UnmetCondition.unexpensiveNetwork),
        (.networkIsConstrained, .unconstrainedNetwork),
    ])
    func aNetworkThatTheSystemExcludesIsNoFailure(failure: TransferFailure, condition: UnmetCondition) {
        guard case .unmet(condition) = AttemptFailure(DownloadError.Reason.connection(failure)).cause else {
            Issue.record("a failure")
            return
        }
    }

    @Test func aTransferNoticesWithinTenSecondsThatTheCableIsOut() async throws {
        let (first, second) = (Gate(), Gate())
        let server = try HTTPTestServer {
            $0.rangeStart == nil
                ? resource.answer(to: $0).after(2_200_000) { first.wait() }
                : resource.answer(to: $0).after(1_000_000) { second.wait() }
        }
        device.become { $0?.hasExternalPower = true }
        let downloader = downloader { $0.insert(.externalPower) }
        let download = downloader.prefetch(DownloadRequest(server.url()))
        await download.hasReceived(2_200_000)
        // Asked once, however many pieces have come.
        #expect(device.reads == 1)
        device.become { $0?.hasExternalPower = false }
        first.open()
        let outcome = await download.outcome
        #expect(outcome.unmet == .externalPower)
        #expect((2 << 20..<Int64(content.count)).contains(outcome.keptBytes ?? 0))
        // The user, who asks for it, has it without the cable.
        second.open()
        let wanted = DownloadRequest(server.url()).userRequested
        #expect(await downloader.prefetch(wanted).outcome.delivered != nil)
    }

    /// Who allows more goes on where the other had to end.
    @Test func requestsUnderOtherConditionsAreNotTheSame() async throws {
        let gate = Gate()
        let server = try HTTPTestServer {
            $0.rangeStart == nil
                ? resource.answer(to: $0).after(2_200_000) { gate.wait() } : resource.answer(to: $0)
        }
        let downloader = downloader()
        let strict = downloader.prefetch(DownloadRequest(server.url()))
        await strict.hasReceived(2_200_000)
        device.become { $0?.isNetworkExpensive = true }
        var free = DownloadRequest(server.url())
        free.conditions = []
        let other = downloader.prefetch(free)
        gate.open()
        #expect(await strict.outcome.unmet == .unexpensiveNetwork)
        #expect(await other.outcome.isStored)
        #expect(server.requests.count == 2 && server.requests[1].rangeStart != nil)
        #expect(try await cache.holds(content))
    }

    @Test func whatIsCachedNeedsNoCondition() async throws {
        let server = try HTTPTestServer { resource.answer(to: $0) }
        #expect(await cache.download(DownloadRequest(server.url())).isStored)
        let downloader = downloader { $0.insert(.externalPower) }
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
