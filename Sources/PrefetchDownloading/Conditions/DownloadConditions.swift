internal import PrefetchCaching

/// When, and over which networks, content may be downloaded.
///
/// ```swift
/// configuration.conditions.requiresExternalPower = true
/// ```
///
/// A download whose conditions are not met, or are met no longer while it transfers, ends with
/// ``DownloadOutcome/postponed(_:keptBytes:)``, which names the condition. Content that is cached already needs none.
///
/// Requests that are downloaded together spend the bytes once, so that each condition is that of whoever asks for the least.
/// If that one is cancelled, the others go on under their own, after the attempt under way.
public struct DownloadConditions: Hashable, Sendable {
    /// At any time, over any network.
    public static let none = DownloadConditions(network: .any)

    /// The networks that may be used.
    public var network: NetworkConditions
    /// Whether the device must be charging, or have no battery. Known on Linux, and elsewhere if
    /// ``DownloaderConfiguration/device`` says so.
    public var requiresExternalPower = false

    /// Creates conditions for a network, and for nothing else.
    public init(network: NetworkConditions = .unconstrained) {
        self.network = network
    }

    /// What both allow, and what one of them allows.
    func union(_ other: DownloadConditions) -> DownloadConditions {
        var union = DownloadConditions(network: network.union(other.network))
        union.requiresExternalPower = requiresExternalPower && other.requiresExternalPower
        return union
    }
}

/// The networks over which content may be downloaded.
///
/// On Apple platforms the system knows what a network is like. Elsewhere every network counts as neither constrained nor
/// expensive, unless ``DownloaderConfiguration/device`` says so.
public struct NetworkConditions: Hashable, Sendable {
    /// Any network.
    public static let any = NetworkConditions(allowsConstrained: true, allowsExpensive: true)
    /// Only networks that are neither in Low Data Mode nor expensive.
    public static let unconstrained = NetworkConditions(allowsConstrained: false, allowsExpensive: false)

    /// Whether networks are used for which the user has turned on Low Data Mode
    /// (`URLRequest.allowsConstrainedNetworkAccess`).
    public var allowsConstrained: Bool
    /// Whether networks are used that the system considers expensive: cellular networks and personal hotspots
    /// (`URLRequest.allowsExpensiveNetworkAccess`), and others that are metered.
    public var allowsExpensive: Bool

    /// Creates conditions.
    public init(allowsConstrained: Bool, allowsExpensive: Bool) {
        self.allowsConstrained = allowsConstrained
        self.allowsExpensive = allowsExpensive
    }

    func union(_ other: NetworkConditions) -> NetworkConditions {
        NetworkConditions(
            allowsConstrained: allowsConstrained || other.allowsConstrained,
            allowsExpensive: allowsExpensive || other.allowsExpensive)
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

extension DownloaderConfiguration {
    func conditions(for request: DownloadRequest) -> DownloadConditions {
        request.conditions ?? (request.intent == .userRequested ? .none : conditions)
    }
}
