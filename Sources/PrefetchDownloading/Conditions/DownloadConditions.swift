public import PrefetchCaching

/// When, and over which networks, content may be downloaded.
///
/// ```swift
/// configuration.conditions.requiresExternalPower = true
/// configuration.conditions.hours = [night]              // DailyHours("01:00-05:00")
/// configuration.conditions.dailyLimit = .mebibytes(50)  // of each source
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
    /// The parts of the day in which the content may be downloaded; empty for all of it.
    public var hours: [DailyHours] = []
    /// How much may be received for the source of the request in a day (UTC), by all processes; `nil` for any amount.
    /// A transfer that reaches it ends, and resumes another day. Exceeded by at most 2 MiB for each transfer under way, and
    /// by what other processes receive within a minute.
    public var dailyLimit: ByteCount?

    /// Creates conditions for a network, and for nothing else.
    public init(network: NetworkConditions = .unconstrained) {
        self.network = network
    }

    /// What both allow, and what one of them allows.
    func union(_ other: DownloadConditions) -> DownloadConditions {
        var union = DownloadConditions(network: network.union(other.network))
        union.requiresExternalPower = requiresExternalPower && other.requiresExternalPower
        union.hours = hours.isEmpty || other.hours.isEmpty ? [] : hours + other.hours
        if let dailyLimit, let others = other.dailyLimit { union.dailyLimit = max(dailyLimit, others) }
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

/// A part of every day, in the device's time zone.
public struct DailyHours: Hashable, Sendable {
    private static let minutesOfDay = 1440

    /// When it begins, in minutes after midnight, from 0 to 1439.
    public let start: Int
    /// When it ends, in minutes after midnight, from 0 to 1440; on the next day if that is not after ``start``.
    public let end: Int

    /// Returns `nil` for minutes that no day has.
    public init?(start: Int, end: Int) {
        guard (0..<Self.minutesOfDay).contains(start), (0...Self.minutesOfDay).contains(end) else {
            return nil
        }
        self.start = start
        self.end = end
    }

    /// Whether a time is within, in seconds after midnight.
    func contains(second: Int) -> Bool {
        let minute = second / 60
        return start < end ? (start..<end).contains(minute) : minute >= start || minute < end
    }
}

extension DailyHours: LosslessStringConvertible {
    /// Creates hours from text such as `01:00-05:00`, or `22:30-24:00`; `nil` for anything else.
    public init?(_ description: String) {
        let times = description.split(separator: "-", omittingEmptySubsequences: false).map { time -> Int? in
            let parts = time.split(separator: ":", omittingEmptySubsequences: false)
            guard parts.count == 2, parts.allSatisfy({ $0.utf8.count == 2 }),
                let hour = ByteNumber.parse(parts[0]), let minute = ByteNumber.parse(parts[1]), minute < 60
            else { return nil }
            return Int(hour * 60 + minute)
        }
        guard times.count == 2, let start = times[0], let end = times[1] else { return nil }
        self.init(start: start, end: end)
    }

    public var description: String { "\(Self.text(start))-\(Self.text(end))" }

    private static func text(_ minutes: Int) -> String {
        [minutes / 60, minutes % 60].map { $0 < 10 ? "0\($0)" : "\($0)" }.joined(separator: ":")
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
    /// The time of the day.
    case hours([DailyHours])
    /// This much was received for the source today.
    case dailyLimit(ByteCount, source: String)
    /// Whether a condition is met is not known, for this reason.
    case unknown(String)

    /// A stable name.
    public var name: String {
        switch self {
        case .unexpensiveNetwork: "unexpensiveNetwork"
        case .unconstrainedNetwork: "unconstrainedNetwork"
        case .externalPower: "externalPower"
        case .hours: "hours"
        case .dailyLimit: "dailyLimit"
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
        case .hours(let hours): "it is not \(hours.map(\.description).joined(separator: " or "))"
        case .dailyLimit(let limit, let source):
            "the \(limit.bytes) bytes that may be received for '\(source)' in a day (UTC) are used up"
        case .unknown(let reason): "it is not known whether the conditions are met: \(reason)"
        }
    }
}

extension DownloaderConfiguration {
    func conditions(for request: DownloadRequest) -> DownloadConditions {
        request.conditions ?? (request.intent == .userRequested ? .none : conditions)
    }
}
