package import PrefetchFileSystem
internal import Synchronization

#if canImport(Darwin) && !os(watchOS)
    internal import Foundation
    internal import SystemPackage
#endif

/// Measures the size and free space of volumes.
package protocol VolumeProbing: Sendable {
    /// Returns the state of the volume that contains an open file or folder. ``VolumeState/evictable`` and
    /// ``VolumeState/purgeable`` are 0, for the caller to fill in.
    func state(of file: Descriptor) throws(FileSystemError) -> VolumeState

    /// Returns only ``VolumeState/available``, for frequent calls.
    func available(of file: Descriptor) throws(FileSystemError) -> Int64
}

extension VolumeProbing {
    /// Returns the available bytes of ``state(of:)``.
    package func available(of file: Descriptor) throws(FileSystemError) -> Int64 {
        try state(of: file).available
    }
}

/// Probes volumes with `statvfs` (`statfs` on Darwin). On macOS, iOS and visionOS it also queries the capacities for important and
/// opportunistic usage; elsewhere ``VolumeState/reported`` is `nil`.
///
/// - Note: Not yet tested on Apple platforms.
package struct VolumeProbe: VolumeProbing {
    let fileSystem: any FileSystem
    private let reports = CapacityReports()

    /// Creates a probe of the volumes of `fileSystem`.
    package init(fileSystem: any FileSystem) {
        self.fileSystem = fileSystem
    }

    package func state(of file: Descriptor) throws(FileSystemError) -> VolumeState {
        let figures = try fileSystem.volume(of: file)
        return VolumeState(
            total: figures.total, available: figures.available,
            reported: try reportedCapacity(of: file, available: figures.available))
    }

    /// Asks for nothing else.
    package func available(of file: Descriptor) throws(FileSystemError) -> Int64 {
        try fileSystem.volume(of: file).available
    }
}

/// Always returns the same state, for previews, tests and benchmarks.
package struct FixedVolumeProbe: VolumeProbing {
    package let state: VolumeState

    /// Creates a probe that always returns `state`.
    package init(_ state: VolumeState) {
        self.state = state
    }

    package func state(of _: Descriptor) -> VolumeState { state }
}

extension VolumeProbe {
    #if !canImport(Darwin) || os(watchOS)
        /// Foundation does not provide these values on this platform.
        private func reportedCapacity(of _: Descriptor, available _: Int64)
            throws(FileSystemError) -> ReportedCapacity?
        { nil }
    #else
        /// The capacity that the system reports for the volume of an open file or folder; `nil` if it reports none, and
        /// for descriptors that do not belong to the live file system.
        private func reportedCapacity(of file: Descriptor, available: Int64)
            throws(FileSystemError) -> ReportedCapacity?
        {
            guard let live = fileSystem as? LiveFileSystem else { return nil }
            let volume = try live.attributes(of: file).identity.device
            return try reports.capacity(of: volume, available: available) { () throws(FileSystemError) in
                Self.report(on: try live.path(of: file))
            }
        }

        private static func report(on path: FilePath) -> ReportedCapacity? {
            do {
                let values = try URL(filePath: path.string).resourceValues(forKeys: [
                    .volumeAvailableCapacityForImportantUsageKey,
                    .volumeAvailableCapacityForOpportunisticUsageKey,
                ])
                return ReportedCapacity(
                    important: values.volumeAvailableCapacityForImportantUsage,
                    opportunistic: values.volumeAvailableCapacityForOpportunisticUsage)
            } catch {
                // These values are optional: `statvfs` has succeeded.
                return nil
            }
        }
    #endif
}

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
