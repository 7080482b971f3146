internal import Foundation

#if canImport(FoundationNetworking)
    internal import FoundationNetworking
#endif

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
