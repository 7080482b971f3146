internal import Foundation

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
