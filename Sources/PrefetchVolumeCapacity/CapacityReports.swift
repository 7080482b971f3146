internal import Synchronization

/// What the system last reported of each volume. A report takes milliseconds, and the system itself says that it is
/// meant for occasional use.
final class CapacityReports: Sendable {
    /// How old a report may be.
    static let freshness = Duration.seconds(30)

    private struct Report {
        let capacity: ReportedCapacity?
        let available: Int64
        let time: Duration
    }

    private let reports = Mutex<[UInt64: Report]>([:])
    private let uptime: @Sendable () -> Duration

    init(uptime: @escaping @Sendable () -> Duration = CapacityReports.uptime) {
        self.uptime = uptime
    }

    @Sendable private static func uptime() -> Duration { start.duration(to: .now) }
    private static let start = ContinuousClock.now

    /// A report at most 30 seconds old. What has been written or freed since then is taken into account.
    ///
    /// - Parameters:
    ///   - volume: The number of the volume (`st_dev`).
    ///   - available: The bytes available on it now.
    ///   - ask: Asks the system. Not called under a lock, since it may take long.
    func capacity<Failure: Error>(
        of volume: UInt64, available: Int64, asking ask: () throws(Failure) -> ReportedCapacity?
    ) throws(Failure) -> ReportedCapacity? {
        let now = uptime()
        if let last = reports.withLock({ $0[volume] }), now - last.time < Self.freshness {
            return last.capacity?.changed(by: available - last.available)
        }
        let capacity = try ask()
        reports.withLock { $0[volume] = Report(capacity: capacity, available: available, time: now) }
        return capacity
    }
}

extension ReportedCapacity {
    fileprivate func changed(by difference: Int64) -> ReportedCapacity {
        // 0 stands for what is not known: what was reported and is used up must not become that.
        func changed(_ value: Int64?) -> Int64? { value.map { max(min($0, 1), $0 + difference) } }
        return ReportedCapacity(important: changed(important), opportunistic: changed(opportunistic))
    }
}
