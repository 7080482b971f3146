internal import Foundation
internal import Logging
internal import PrefetchCaching
internal import PrefetchFileSystem
internal import Synchronization

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
    /// The device is neither in Low Power Mode nor so hot that it slows down. Known on Apple platforms, and elsewhere if
    /// ``DownloaderConfiguration/device`` says so.
    public static let unstrainedDevice = DownloadConditions(rawValue: 8)

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

/// The condition that keeps content from being downloaded now. The raw values are stable names.
public enum UnmetCondition: String, Error, Hashable, Sendable, CustomStringConvertible {
    /// The network is metered, or expensive in another way.
    case unexpensiveNetwork
    /// The network is to be used sparingly: it is in Low Data Mode.
    case unconstrainedNetwork
    /// The device runs on its battery.
    case externalPower
    /// The device is in Low Power Mode, or hot.
    case unstrainedDevice
    /// Whether a condition is met is not known. The logger receives why.
    case unknown

    public var description: String {
        switch self {
        case .unexpensiveNetwork: "the network is metered or expensive"
        case .unconstrainedNetwork: "the network is to be used sparingly"
        case .externalPower: "the device runs on its battery"
        case .unstrainedDevice: "the device saves power or is hot"
        case .unknown: "it is not known whether the conditions are met; set the configuration's device"
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
    /// Whether the device is in Low Power Mode, or so hot that its performance suffers.
    public var isStrained = false

    /// Creates the state of a device about which nothing is known.
    public init() {}

    /// What the system says: on Linux, whether there is external power (`/sys/class/power_supply`); on Apple platforms, whether
    /// the device is strained. These apply the conditions of the network to each request by themselves, and do not say here
    /// whether the device charges.
    public static func ofSystem() throws -> DeviceState { try ofSystem(in: "/sys/class/power_supply") }
}

extension DeviceState {
    /// - Parameter folder: A folder for each battery and charger, of which a machine without either has none
    ///   (`Documentation/ABI/testing/sysfs-class-power` of Linux).
    static func ofSystem(in folder: String) throws -> DeviceState {
        var state = DeviceState()
        #if canImport(Darwin)
            let process = ProcessInfo.processInfo
            state.isStrained =
                process.isLowPowerModeEnabled || [.serious, .critical].contains(process.thermalState)
        #else
            let names =
                FileManager.default.fileExists(atPath: folder)
                ? try FileManager.default.contentsOfDirectory(atPath: folder) : []
            // Nothing for what a supply does not say, or says no longer.
            let supplies = names.map { name in
                ["scope", "type", "online", "status"].map { property in
                    FileManager.default.contents(atPath: "\(folder)/\(name)/\(property)").map {
                        String(decoding: $0, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
                    }
                }
            }.filter { $0[0] != "Device" }  // Not the battery of a mouse.
            let isOnline = supplies.contains { $0[1] != "Battery" && $0[2] == "1" }
            let isDraining = supplies.contains { $0[1] == "Battery" && $0[3] == "Discharging" }
            state.hasExternalPower = isOnline || !isDraining
        #endif
        return state
    }

    /// - Throws: What is not met.
    fileprivate func require(_ conditions: DownloadConditions) throws(UnmetCondition) {
        if isNetworkExpensive, conditions.contains(.unexpensiveNetwork) { throw .unexpensiveNetwork }
        if isNetworkConstrained, conditions.contains(.unconstrainedNetwork) { throw .unconstrainedNetwork }
        if isStrained, conditions.contains(.unstrainedDevice) { throw .unstrainedDevice }
        if conditions.contains(.externalPower), hasExternalPower != true {
            throw hasExternalPower == nil ? .unknown : .externalPower
        }
    }
}

/// Knows whether the conditions of downloads are met.
final class ConditionKeeper: Sendable {
    /// For so many seconds the state of the device is taken for unchanged.
    private static let deviceSeconds: Int64 = 10

    private let cache: PrefetchCache
    private let readDevice: @Sendable () async throws -> DeviceState
    private let environment: DownloaderEnvironment
    /// `nil` for a state that could not be read.
    private let known = UnfairMutex<(device: DeviceState?, readAt: Int64)?>(nil)

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
        guard let device = await device(environment.now()) else { throw .unknown }
        try device.require(conditions)
    }

    private func device(_ now: Int64) async -> DeviceState? {
        // A clock that was set back says nothing about the age.
        if let known = known.withLock(\.self), (0..<Self.deviceSeconds).contains(now - known.readAt) {
            return known.device
        }
        var device: DeviceState?
        do {
            device = try await withTaskExecutorPreference(cache.executor) { try await readDevice() }
        } catch {
            environment.logger.info(
                "The state of the device is not known.", metadata: ["error": "\(error)"])
        }
        known.withLock { [device] in $0 = (device, now) }
        return device
    }
}
