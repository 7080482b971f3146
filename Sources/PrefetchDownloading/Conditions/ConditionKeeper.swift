internal import Foundation
internal import PrefetchCaching
internal import PrefetchFileSystem
internal import Synchronization

/// Knows whether the conditions of downloads are met.
final class ConditionKeeper: Sendable {
    /// For so many seconds the state of the device is taken for unchanged.
    private static let deviceSeconds: Int64 = 10

    private struct State {
        var device: Result<DeviceState, UnmetCondition>?
        var deviceReadAt: Int64 = 0
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

    /// - Throws: What is not met.
    func require(_ conditions: DownloadConditions) async throws(UnmetCondition) {
        guard conditions != .none else { return }
        let device = try await deviceState(environment.now()).get()
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
}
