internal import Foundation
internal import PrefetchCaching
internal import PrefetchFileSystem
internal import Synchronization

#if canImport(FoundationNetworking)
    internal import FoundationNetworking
#endif

/// When, and over which networks, content may be downloaded: what must be so. With none of them it may be at any time, and over
/// any network.
///
/// ```swift
/// configuration.conditions.insert(.externalPower)
/// ```
///
/// A download whose conditions are not met, or are met no longer while it transfers, ends with
/// ``DownloadOutcome/postponed(_:keptBytes:)``, which names the condition. Content that is cached already needs none.
///
/// Requests that are downloaded together spend the bytes once, so that only the conditions count that they have in common.
/// If one of them is cancelled, the others go on under their own, after the request under way.
///
/// On Apple platforms the system knows what a network is like. Elsewhere every network counts as neither constrained nor
/// expensive, unless ``DownloaderConfiguration/device`` says so.
public struct DownloadConditions: OptionSet, Hashable, Sendable {
    /// The network is none for which the user has turned on Low Data Mode (`URLRequest.allowsConstrainedNetworkAccess`).
    public static let unconstrainedNetwork = DownloadConditions(rawValue: 1)
    /// The network is none that the system considers expensive: cellular networks and personal hotspots
    /// (`URLRequest.allowsExpensiveNetworkAccess`), and others that are metered.
    public static let unexpensiveNetwork = DownloadConditions(rawValue: 2)
    /// The device is charging, or has no battery. Known on Linux, and elsewhere if ``DownloaderConfiguration/device`` says so.
    public static let externalPower = DownloadConditions(rawValue: 4)

    /// A bit for each.
    public let rawValue: Int

    /// Creates conditions from their bits.
    public init(rawValue: Int) { self.rawValue = rawValue }
}

extension DownloaderConfiguration {
    func conditions(for request: DownloadRequest) -> DownloadConditions {
        request.conditions ?? (request.intent == .userRequested ? [] : conditions)
    }
}

/// The condition that keeps content from being downloaded now.
public enum UnmetCondition: Error, Hashable, Sendable {
    /// The network is metered, or expensive in another way.
    case unexpensiveNetwork
    /// The network is to be used sparingly: it is in Low Data Mode.
    case unconstrainedNetwork
    /// The device runs on its battery.
    case externalPower
    /// Whether a condition is met is not known, for this reason.
    case unknown(String)

    /// A stable name.
    public var name: String {
        switch self {
        case .unexpensiveNetwork: "unexpensiveNetwork"
        case .unconstrainedNetwork: "unconstrainedNetwork"
        case .externalPower: "externalPower"
        case .unknown: "unknown"
        }
    }
}

extension UnmetCondition: CustomStringConvertible {
    public var description: String {
        switch self {
        case .unexpensiveNetwork: "the network is metered or expensive"
        case .unconstrainedNetwork: "the network is to be used sparingly"
        case .externalPower: "the device runs on its battery"
        case .unknown(let reason): "it is not known whether the conditions are met: \(reason)"
        }
    }
}

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

    /// What the system says. On Linux that is whether there is external power (`/sys/class/power_supply`); Apple platforms
    /// apply the conditions of the network to each request by themselves, and do not say here whether the device charges.
    public static func ofSystem() throws -> DeviceState { try ofSystem(in: "/sys/class/power_supply") }
}

extension DeviceState {
    /// - Parameter folder: A folder for each battery and charger, of which a machine without either has none
    ///   (`Documentation/ABI/testing/sysfs-class-power` of Linux).
    static func ofSystem(in folder: String) throws -> DeviceState {
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
    private let readDevice: @Sendable () async throws -> DeviceState
    private let environment: DownloaderEnvironment
    private let known = UnfairMutex<(device: Result<DeviceState, UnmetCondition>, readAt: Int64)?>(nil)

    init(
        _ cache: PrefetchCache, _ device: @escaping @Sendable () async throws -> DeviceState,
        _ environment: DownloaderEnvironment
    ) {
        self.cache = cache
        readDevice = device
        self.environment = environment
    }

    /// - Throws: What is not met.
    func require(_ conditions: DownloadConditions) async throws(UnmetCondition) {
        guard !conditions.isEmpty else { return }
        let device = try await deviceState(environment.now()).get()
        if device.isNetworkExpensive, conditions.contains(.unexpensiveNetwork) { throw .unexpensiveNetwork }
        if device.isNetworkConstrained, conditions.contains(.unconstrainedNetwork) {
            throw .unconstrainedNetwork
        }
        guard conditions.contains(.externalPower), device.hasExternalPower != true else { return }
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
            read = .success(try await withTaskExecutorPreference(cache.executor) { try await readDevice() })
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
        mutating func restrict(to conditions: DownloadConditions) {
            if conditions.contains(.unconstrainedNetwork) { allowsConstrainedNetworkAccess = false }
            if conditions.contains(.unexpensiveNetwork) { allowsExpensiveNetworkAccess = false }
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
        mutating func restrict(to conditions: DownloadConditions) {}
    }

    extension URLError {
        var networkRestriction: TransferFailure? { nil }
    }

    extension PowerState {
        static let live = unlimited
    }
#endif
