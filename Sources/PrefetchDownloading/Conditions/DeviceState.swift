internal import Foundation
internal import PrefetchCaching
internal import PrefetchFileSystem
internal import Synchronization

#if canImport(FoundationNetworking)
    internal import FoundationNetworking
#endif

/// What a device and its network are like at a moment.
public struct DeviceState: Hashable, Sendable {
    /// Whether the network is metered, or expensive in another way.
    public var isNetworkExpensive = false
    /// Whether the network is to be used sparingly.
    public var isNetworkConstrained = false
    /// Whether the device is charging, or has no battery; `nil` if that is not known.
    public var hasExternalPower: Bool?

    /// Creates the state of a device about which nothing is known.
    public init() {}
}

/// Where a downloader learns what the device and its network are like: at most every ten seconds.
///
/// ```swift
/// configuration.device = DeviceStateSource {
///     var state = DeviceState()
///     state.hasExternalPower = await MainActor.run { UIDevice.current.batteryState != .unplugged }
///     return state
/// }
/// ```
public struct DeviceStateSource: Sendable {
    let read: @Sendable () async throws -> DeviceState

    /// Creates a source.
    ///
    /// - Parameter read: Returns the state now. May block its thread. Where it throws, no condition of the network and the
    ///   power is met.
    public init(_ read: @escaping @Sendable () async throws -> DeviceState) {
        self.read = read
    }

    /// What the system says. On Linux that is whether there is external power (`/sys/class/power_supply`); Apple platforms
    /// apply the conditions of the network to each request by themselves, and do not say here whether the device charges.
    public static let system = DeviceStateSource { try PowerSupplies.state() }
}

/// What Linux says about the power.
enum PowerSupplies {
    /// - Parameter folder: A folder for each battery and charger, of which a machine without either has none
    ///   (`Documentation/ABI/testing/sysfs-class-power` of Linux).
    static func state(in folder: String = "/sys/class/power_supply") throws -> DeviceState {
        #if os(Linux)
            var state = DeviceState()
            let names =
                FileManager.default.fileExists(atPath: folder)
                ? try FileManager.default.contentsOfDirectory(atPath: folder) : []
            // Not the battery of a mouse.
            let supplies = names.map { name in
                ["scope", "type", "online", "status"].map { value(of: $0, in: "\(folder)/\(name)") }
            }.filter { $0[0] != "Device" }
            let isOnline = supplies.contains { $0[1] != "Battery" && $0[2] == "1" }
            let isDraining = supplies.contains { $0[1] == "Battery" && $0[3] == "Discharging" }
            state.hasExternalPower = isOnline || !isDraining
            return state
        #else
            return DeviceState()
        #endif
    }

    #if os(Linux)
        /// Nothing for what a supply does not say, or says no longer.
        private static func value(of name: String, in supply: String) -> String? {
            FileManager.default.contents(atPath: "\(supply)/\(name)").map {
                String(decoding: $0, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
            }
        }
    #endif
}

/// Knows whether the conditions of downloads are met.
final class ConditionKeeper: Sendable {
    /// For so many seconds the state of the device is taken for unchanged.
    private static let deviceSeconds: Int64 = 10

    private let cache: PrefetchCache
    private let device: DeviceStateSource
    private let environment: DownloaderEnvironment
    private let known = UnfairMutex<(device: Result<DeviceState, UnmetCondition>, readAt: Int64)?>(nil)

    init(_ cache: PrefetchCache, _ device: DeviceStateSource, _ environment: DownloaderEnvironment) {
        self.cache = cache
        self.device = device
        self.environment = environment
    }

    /// - Throws: What is not met.
    func require(_ conditions: DownloadConditions) async throws(UnmetCondition) {
        guard conditions != .none else { return }
        let device = try await deviceState(environment.now()).get()
        if device.isNetworkExpensive, !conditions.network.allowsExpensive { throw .unexpensiveNetwork }
        if device.isNetworkConstrained, !conditions.network.allowsConstrained {
            throw .unconstrainedNetwork
        }
        guard conditions.requiresExternalPower, device.hasExternalPower != true else { return }
        throw device.hasExternalPower == nil
            ? .unknown("nothing says whether there is external power; set the configuration's device")
            : .externalPower
    }

    private func deviceState(_ now: Int64) async -> Result<DeviceState, UnmetCondition> {
        // A clock that was set back says nothing about the age.
        if let known = known.withLock({ $0 }), (0..<Self.deviceSeconds).contains(now - known.readAt) {
            return known.device
        }
        let read: Result<DeviceState, UnmetCondition>
        do {
            read = .success(
                try await withTaskExecutorPreference(cache.executor) { try await self.device.read() })
        } catch {
            read = .failure(.unknown("\(error)"))
        }
        known.withLock { $0 = (read, now) }
        return read
    }
}

/// Whether the device asks its programs for restraint.
struct PowerState: Sendable {
    /// Whether downloads that nobody waits for are to pause now.
    var isStrained: @Sendable () -> Bool
    /// Changes of that from now on. A change may be reported that is none.
    var changes: @Sendable () -> AsyncStream<Void>

    /// A device that never does.
    static let unlimited = PowerState(isStrained: { false }, changes: { AsyncStream { $0.finish() } })
}

// What Apple's systems say about the network and the device, and others do not.

#if canImport(Darwin)
    extension URLRequest {
        /// Restricts the request to networks. What its creator forbade stays forbidden.
        mutating func restrict(to network: NetworkConditions) {
            if !network.allowsConstrained { allowsConstrainedNetworkAccess = false }
            if !network.allowsExpensive { allowsExpensiveNetworkAccess = false }
        }
    }

    extension URLError {
        /// Why the request may not use the network that there is.
        var networkRestriction: TransferFailure? {
            networkUnavailableReason.map { $0 == .constrained ? .networkIsConstrained : .networkIsExpensive }
        }
    }

    extension PowerState {
        /// Low Power Mode, or a device so hot that its performance suffers.
        static let live = PowerState(
            isStrained: {
                let process = ProcessInfo.processInfo
                return process.isLowPowerModeEnabled || [.serious, .critical].contains(process.thermalState)
            },
            changes: {
                AsyncStream(bufferingPolicy: .bufferingNewest(1)) { continuation in
                    let names = [
                        Notification.Name.NSProcessInfoPowerStateDidChange,
                        ProcessInfo.thermalStateDidChangeNotification,
                    ]
                    let tasks = names.map { name in
                        Task {
                            for await _ in NotificationCenter.default.notifications(named: name) {
                                continuation.yield()
                            }
                        }
                    }
                    continuation.onTermination = { _ in
                        for task in tasks { task.cancel() }
                    }
                }
            })
    }
#else
    extension URLRequest {
        mutating func restrict(to network: NetworkConditions) {}
    }

    extension URLError {
        var networkRestriction: TransferFailure? { nil }
    }

    extension PowerState {
        static let live = unlimited
    }
#endif
