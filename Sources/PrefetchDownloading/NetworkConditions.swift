internal import PrefetchCaching

/// The networks over which content may be downloaded.
///
/// Known on Apple platforms only: elsewhere every network counts as unconstrained.
///
/// Requests that are downloaded together spend the bytes once, so that any network is used that one of them allows. If that
/// one is cancelled, the others go on as they allow, after the attempt under way.
public struct NetworkConditions: Hashable, Sendable {
    /// Any network.
    public static let any = NetworkConditions(allowsConstrained: true, allowsExpensive: true)
    /// Only networks that are neither in Low Data Mode nor expensive.
    public static let unconstrained = NetworkConditions(allowsConstrained: false, allowsExpensive: false)

    /// Whether networks are used for which the user has turned on Low Data Mode
    /// (`URLRequest.allowsConstrainedNetworkAccess`).
    public var allowsConstrained: Bool
    /// Whether networks are used that the system considers expensive: cellular networks and personal hotspots
    /// (`URLRequest.allowsExpensiveNetworkAccess`).
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

extension DownloaderConfiguration {
    func network(for request: DownloadRequest) -> NetworkConditions {
        request.network ?? (request.intent == .userRequested ? .any : network)
    }
}
