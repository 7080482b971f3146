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
                if let problem = state.problem { throw DeviceStateError(description: problem) }
                return state.device
            }
        }
    }

    private let device = Device()

    private func downloader(
        _ cache: TestCache, secondsFromGMT: Int = 0,
        _ change: (inout DownloadConditions) -> Void = { _ in }
    ) -> PrefetchDownloader {
        cache.downloader(
            { [device] configuration in
                configuration.device = DeviceStateSource { try device.read() }
                change(&configuration.conditions)
            },
            in: { [device] environment in
                environment.now = { device.now }
                environment.secondsFromGMT = { _ in secondsFromGMT }
            })
    }

    private func hours(_ text: String) throws -> DailyHours { try #require(DailyHours(text)) }

    // MARK: Hours

    @Test(arguments: [
        ("22:00-23:00", 0, true), ("22:13-22:14", 0, true), ("22:14-22:13", 0, false),
        ("22:14-23:00", 0, false),
        ("21:00-22:13", 0, false), ("23:00-05:00", 0, false), ("22:00-05:00", 0, true),
        ("23:00-22:14", 0, true),
        ("00:00-24:00", 0, true), ("00:00-00:00", 0, true),
        // An hour ahead, and the next day.
        ("23:00-23:59", 3600, true), ("22:00-23:00", 3600, false), ("00:10-00:20", 7200, true),
        // Behind.
        ("16:00-17:00", -6 * 3600, true),
    ])
    func contentIsDownloadedInItsHours(_ text: String, _ ahead: Int, _ isMet: Bool) async throws {
        let cache = try await TestCache()
        let server = try HTTPTestServer { resource.answer(to: $0) }
        let hours = try hours(text)
        let outcome = await downloader(cache, secondsFromGMT: ahead) { $0.hours = [hours] }
            .prefetch(DownloadRequest(server.url())).outcome
        if isMet {
            #expect(outcome.isStored)
        } else {
            #expect(outcome == .postponed(.hours([hours]), keptBytes: 0))
        }
        #expect(server.requests.isEmpty == !isMet)
    }

    @Test func anyOfSeveralHoursWillDo() async throws {
        let cache = try await TestCache()
        let server = try HTTPTestServer { resource.answer(to: $0) }
        let hours = [try hours("01:00-05:00"), try hours("22:00-22:30")]
        let outcome = await downloader(cache) { $0.hours = hours }.prefetch(DownloadRequest(server.url()))
            .outcome
        #expect(outcome.isStored)
    }

    @Test(arguments: [
        "", "01:00", "1:00-5:00", "01:00-05:00-06:00", "24:00-05:00", "01:60-05:00", "01:00-24:01",
        "-1:00-05:00",
        "01:00 - 05:00", "0１:00-05:00",
    ])
    func whatIsNoPartOfADayIsNotTaken(_ text: String) {
        #expect(DailyHours(text) == nil)
    }

    @Test func hoursAreWrittenAsTheyAreRead() throws {
        for text in ["01:00-05:00", "22:30-24:00", "00:00-00:01", "23:59-00:00"] {
            #expect(try hours(text).description == text)
        }
    }

    @Test func aTransferEndsWithItsHourAndGoesOnAnotherDay() async throws {
        let cache = try await TestCache()
        let gate = Gate()
        let server = try HTTPTestServer(
            inTurn: { resource.answer(to: $0).after(3_400_000) { gate.wait() } }, { resource.answer(to: $0) })
        let hours = try hours("22:00-22:30")
        let downloader = downloader(cache) { $0.hours = [hours] }
        let download = downloader.prefetch(DownloadRequest(server.url()))
        await download.hasReceived(3_400_000)
        device.pass(seconds: 1800)
        gate.open()
        guard case .postponed(.hours([hours]), let kept) = await download.outcome else {
            Issue.record("\(await download.outcome)")
            return
        }
        // What had arrived is stored, and nothing of it is lost.
        #expect(kept >= 3 << 20 && kept < content.count)
        #expect(try await cache.keptBytes() == kept)
        device.pass(seconds: 86_400 - 1800)
        #expect(await downloader.prefetch(DownloadRequest(server.url())).outcome.isStored)
        #expect(server.requests.map(\.rangeStart) == [nil, Int(kept)])
        #expect(try await cache.holds(content))
    }

    // MARK: Device

    @Test func aBatteryAMeterAndRestraintHaveTheirNames() async throws {
        let cache = try await TestCache()
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
        var requested = DownloadRequest(server.url(), "requested")
        requested.intent = .userRequested
        guard case .delivered = await downloader(cache).prefetch(requested).outcome else {
            Issue.record("not delivered")
            return
        }
        #expect(device.reads == reads)
    }

    @Test func whatIsNotKnownIsNotMet() async throws {
        let cache = try await TestCache()
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
        let cache = try await TestCache()
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
        var wanted = DownloadRequest(server.url())
        wanted.intent = .userRequested
        guard case .delivered = await downloader.prefetch(wanted).outcome else {
            Issue.record("not delivered")
            return
        }
    }

    /// The bytes are spent once, and one of them allows it.
    @Test func whoJoinsWithoutConditionsTakesTheOthersAlong() async throws {
        let cache = try await TestCache()
        let gate = Gate()
        let server = try HTTPTestServer { resource.answer(to: $0).after(3_400_000) { gate.wait() } }
        let hours = try hours("22:00-22:30")
        let downloader = downloader(cache) { $0.hours = [hours] }
        let strict = downloader.prefetch(DownloadRequest(server.url()))
        await strict.hasReceived(3_400_000)
        device.pass(seconds: 1800)
        var free = DownloadRequest(server.url())
        free.conditions = DownloadConditions.none
        let other = downloader.prefetch(free)
        gate.open()
        #expect(await other.outcome.isStored)
        #expect(await strict.outcome == other.outcome)
        #expect(server.requests.count == 1)
    }

    @Test func conditionsUniteToWhatAsksForLess() throws {
        let night = try hours("01:00-05:00")
        let evening = try hours("20:00-22:00")
        var one = DownloadConditions()
        (one.requiresExternalPower, one.hours, one.dailyLimit) = (true, [night], .mebibytes(1))
        var other = one
        (other.hours, other.dailyLimit) = ([evening], .mebibytes(2))
        let both = one.union(other)
        #expect(both.requiresExternalPower && both.network == .unconstrained)
        #expect(both.hours == [night, evening] && both.dailyLimit == .mebibytes(2))
        #expect(one.union(.none) == .none && DownloadConditions.none.union(one) == .none)
    }

    @Test func whatIsCachedNeedsNoCondition() async throws {
        let cache = try await TestCache()
        let server = try HTTPTestServer { resource.answer(to: $0) }
        #expect(await cache.download(DownloadRequest(server.url())).isStored)
        let hours = try hours("01:00-05:00")
        let downloader = downloader(cache) { $0.hours = [hours] }
        var request = DownloadRequest(server.url())
        request.whenCached = .keep
        #expect(await downloader.prefetch(request).outcome == .alreadyCached)
        _ = try await cache.cache.open("item")
        guard case .alreadyPromoted = await downloader.prefetch(request).outcome else {
            Issue.record("postponed")
            return
        }
    }

    // MARK: Bytes of a day

    @Test func aSourceHasItsBytesOfADay() async throws {
        let cache = try await TestCache()
        let server = try HTTPTestServer { resource.answer(to: $0) }
        device.pass(seconds: Int64(Date().timeIntervalSince1970) - device.now)
        let downloader = downloader(cache) { $0.dailyLimit = .bytes(Int64(content.count) + 1_000_000) }
        func request(_ name: String, _ source: String) throws -> DownloadRequest {
            var request = DownloadRequest(server.url("/\(name)"), try ItemKey(name))
            request.source = source
            return request
        }
        #expect(await downloader.prefetch(try request("first", "a")).outcome.isStored)
        guard
            case .postponed(.dailyLimit(_, source: "a"), let kept) = await downloader.prefetch(
                try request("second", "a")
            ).outcome
        else { Issue.record("not postponed"); return }
        #expect(kept <= 4 << 20)
        // Nothing more today, and nothing of a third.
        let requests = server.requests.count
        for name in ["second", "third"] {
            guard case .postponed = await downloader.prefetch(try request(name, "a")).outcome else {
                Issue.record("\(name) was not postponed")
                return
            }
        }
        #expect(server.requests.count == requests)
        // Another source has its own.
        #expect(await downloader.prefetch(try request("other", "b")).outcome.isStored)
        // And the next day is another one.
        cache.time.advance(by: 86_400_000)
        device.pass(seconds: 86_400)
        #expect(await downloader.prefetch(try request("second", "a")).outcome.isStored)
        #expect(server.requests.last?.rangeStart == (kept > 0 ? Int(kept) : nil))
        #expect(try await cache.cache.read("second") == content)
    }

    /// What a downloader before this one, or another process, has received.
    @Test func whatOthersHaveReceivedCountsToo() async throws {
        let cache = try await TestCache()
        let server = try HTTPTestServer { resource.answer(to: $0) }
        device.pass(seconds: Int64(Date().timeIntervalSince1970) - device.now)
        let limit = ByteCount.bytes(Int64(content.count))
        func downloader() -> PrefetchDownloader { self.downloader(cache) { $0.dailyLimit = limit } }
        #expect(await downloader().prefetch(DownloadRequest(server.url("/1"), "1")).outcome.isStored)
        #expect(
            await downloader().prefetch(DownloadRequest(server.url("/2"), "2")).outcome
                == .postponed(.dailyLimit(limit, source: "127.0.0.1"), keptBytes: 0))
        let other = self.downloader(cache) { $0.dailyLimit = limit }
        try await cache.cache.endFetch(1, again: 0, inVain: 0, from: "elsewhere")
        var request = DownloadRequest(server.url("/3"), "3")
        request.source = "elsewhere"
        #expect(await other.prefetch(request).outcome.isStored)
    }

    /// Its bytes were not under way here, and count once all the same.
    @Test func whatAnotherSessionHasReceivedCountsOnce() async throws {
        let cache = try await TestCache()
        let server = try HTTPTestServer { resource.answer(to: $0) }
        device.pass(seconds: Int64(Date().timeIntervalSince1970) - device.now)
        let limit = ByteCount.bytes(2 * Int64(content.count))
        let downloader = downloader(cache) { $0.dailyLimit = limit }
        let file = cache.container.appending(path: "file")
        try content.write(to: file)
        let response = try #require(
            HTTPURLResponse(
                url: server.url("/0"), statusCode: 200, httpVersion: nil,
                headerFields: ["Content-Length": "\(content.count)"]))
        let finished = await downloader.finish(
            DownloadRequest(server.url("/0"), "0"), fileAt: file, response: response)
        #expect(finished.isStored)
        #expect(await downloader.prefetch(DownloadRequest(server.url("/1"), "1")).outcome.isStored)
        device.pass(seconds: 60)
        #expect(
            await downloader.prefetch(DownloadRequest(server.url("/2"), "2")).outcome
                == .postponed(.dailyLimit(limit, source: "127.0.0.1"), keptBytes: 0))
    }

    // MARK: Sources

    @Test(arguments: [
        ("metered=yes\nconstrained = no\n# a remark\n\npower=YES\n", true, false, true),
        ("power=no", false, false, false), ("Constrained=Yes", false, true, true),
    ])
    func aFileTellsWhatTheDeviceIsLike(
        _ text: String, _ isExpensive: Bool, _ isConstrained: Bool, _ hasPower: Bool
    ) async throws {
        let folder = try TemporaryFolder()
        let file = URL(filePath: folder.path.appending("state").string)
        try Data(text.utf8).write(to: file)
        let state = try await DeviceStateSource.file(file).read()
        #expect(state.isNetworkExpensive == isExpensive && state.isNetworkConstrained == isConstrained)
        if text.lowercased().contains("power") { #expect(state.hasExternalPower == hasPower) }
    }

    @Test(arguments: ["metered", "metered=maybe", "charging=yes", "metered=yes=no", "=yes", "metered yes"])
    func aFileThatSaysSomethingElseIsAnError(_ text: String) async throws {
        let folder = try TemporaryFolder()
        let file = URL(filePath: folder.path.appending("state").string)
        try Data("power=yes\n\(text)\n".utf8).write(to: file)
        let error = await #expect(throws: DeviceStateError.self) {
            try await DeviceStateSource.file(file).read()
        }
        #expect(error?.description.contains("line 2") == true)
        await #expect(throws: DeviceStateError.self) {
            try await DeviceStateSource.file(file.appendingPathExtension("missing")).read()
        }
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
