internal import Foundation
internal import PrefetchCaching
internal import PrefetchFileSystem
internal import Synchronization

/// Knows whether the conditions of downloads are met.
final class ConditionKeeper: Sendable {
    /// For so many seconds the state of the device is taken for unchanged.
    private static let deviceSeconds: Int64 = 10
    /// For so many seconds other processes are taken to have received nothing.
    private static let historySeconds: Int64 = 60
    private static let secondsOfDay: Int64 = 86_400

    private struct State {
        var device: Result<DeviceState, UnmetCondition>?
        var deviceReadAt: Int64 = 0
        var received: [String: Received] = [:]
    }

    /// What was received for a source.
    private struct Received {
        /// What the history says of today.
        var counted: Int64 = 0
        var readAt: Int64?
        /// By transfers under way, which the history does not know yet.
        var underWay: Int64 = 0
    }

    private let cache: PrefetchCache
    private let device: DeviceStateSource
    private let environment: DownloaderEnvironment
    private let state = UnfairMutex(State())

    init(_ cache: PrefetchCache, _ device: DeviceStateSource, _ environment: DownloaderEnvironment) {
        self.cache = cache
        self.device = device
        self.environment = environment
    }

    /// - Throws: ``UnmetCondition``, and what reading the history throws.
    func require(_ conditions: DownloadConditions, for source: String) async throws {
        guard conditions != .none else { return }
        let now = environment.now()
        if !conditions.hours.isEmpty {
            let (past, day) = (now + Int64(environment.secondsFromGMT(now)), Self.secondsOfDay)
            let second = Int((past % day + day) % day)
            guard conditions.hours.contains(where: { $0.contains(second: second) }) else {
                throw UnmetCondition.hours(conditions.hours)
            }
        }
        if conditions.network != .any || conditions.requiresExternalPower {
            try await requireDevice(conditions, now)
        }
        if let limit = conditions.dailyLimit, try await receivedToday(for: source, now) >= limit.bytes {
            throw UnmetCondition.dailyLimit(limit, source: source)
        }
    }

    private func requireDevice(_ conditions: DownloadConditions, _ now: Int64) async throws {
        let device = try await deviceState(now).get()
        if device.isNetworkExpensive, !conditions.network.allowsExpensive {
            throw UnmetCondition.unexpensiveNetwork
        }
        if device.isNetworkConstrained, !conditions.network.allowsConstrained {
            throw UnmetCondition.unconstrainedNetwork
        }
        guard conditions.requiresExternalPower else { return }
        guard let hasPower = device.hasExternalPower else {
            throw UnmetCondition.unknown(
                "nothing says whether there is external power; set the configuration's device")
        }
        if !hasPower { throw UnmetCondition.externalPower }
    }

    private func deviceState(_ now: Int64) async -> Result<DeviceState, UnmetCondition> {
        let known = state.withLock { state in
            // A clock that was set back says nothing about the age.
            (0..<Self.deviceSeconds).contains(now - state.deviceReadAt) ? state.device : nil
        }
        if let known { return known }
        let read: Result<DeviceState, UnmetCondition>
        do {
            read = .success(
                try await withTaskExecutorPreference(cache.executor) { try await self.device.read() })
        } catch {
            read = .failure(.unknown("\(error)"))
        }
        state.withLock { ($0.device, $0.deviceReadAt) = (read, now) }
        return read
    }

    private func receivedToday(for source: String, _ now: Int64) async throws -> Int64 {
        let known = state.withLock { state -> Int64? in
            guard let received = state.received[source], let readAt = received.readAt,
                (0..<Self.historySeconds).contains(now - readAt),
                now / Self.secondsOfDay == readAt / Self.secondsOfDay
            else { return nil }
            return received.counted + received.underWay
        }
        if let known { return known }
        let today = try await cache.history(since: Date(timeIntervalSince1970: Double(now)))
        let counted = today.rows.filter { $0.source == source }.reduce(0) { $0 + $1.figures[.fetchedBytes] }
        return state.withLock { state in
            var received = state.received[source] ?? Received()
            (received.counted, received.readAt) = (counted, now)
            state.received[source] = received
            return counted + received.underWay
        }
    }

    /// Notes that a transfer under way has received bytes.
    func note(_ bytes: Int, for source: String) {
        state.withLock { $0.received[source, default: Received()].underWay += Int64(bytes) }
    }

    /// Notes that the history counts bytes that were noted. Not before it does:
    /// rather they count twice, at most until the history is read again.
    func noteCounted(_ bytes: Int64, for source: String) {
        state.withLock { state in
            var received = state.received[source] ?? Received()
            received.underWay -= bytes
            received.counted += bytes
            state.received[source] = received
        }
    }
}
