package import PrefetchFileSystem

#if canImport(Darwin) && !os(tvOS) && !os(watchOS)
    internal import Darwin
    internal import Foundation
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

/// Probes volumes with `statvfs`. On macOS, iOS and visionOS it also queries the capacities for important and
/// opportunistic usage; elsewhere ``VolumeState/reported`` is `nil`.
///
/// - Note: Not yet tested on Apple platforms.
package struct VolumeProbe: VolumeProbing {
    let fileSystem: any FileSystem

    /// Creates a probe of the volumes of `fileSystem`.
    package init(fileSystem: any FileSystem) {
        self.fileSystem = fileSystem
    }

    package func state(of file: Descriptor) throws(FileSystemError) -> VolumeState {
        let figures = try fileSystem.volume(of: file)
        return VolumeState(
            total: figures.total, available: figures.available, reported: reportedCapacity(of: file))
    }

    /// Calls only `statvfs`.
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
    #if !canImport(Darwin) || os(tvOS) || os(watchOS)
        /// Foundation does not provide these values on this platform.
        private func reportedCapacity(of _: Descriptor) -> ReportedCapacity? { nil }
    #else
        /// The capacity that the system reports for the volume of an open file or folder; `nil` if it reports none, and
        /// for descriptors that do not belong to the live file system.
        ///
        /// The path (`fcntl` with `F_GETPATH`) is used immediately and not kept, since it can change.
        private func reportedCapacity(of file: Descriptor) -> ReportedCapacity? {
            guard fileSystem is LiveFileSystem, let path = Self.path(of: file) else { return nil }
            do {
                let values = try URL(fileURLWithPath: path).resourceValues(forKeys: [
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

        private static func path(of file: Descriptor) -> String? {
            var buffer = [UInt8](repeating: 0, count: Int(MAXPATHLEN))
            let result = buffer.withUnsafeMutableBytes { bytes -> CInt in
                guard let start = bytes.baseAddress else { return -1 }
                return fcntl(file.rawValue, F_GETPATH, start)
            }
            return result == -1 ? nil : String(decoding: buffer.prefix { $0 != 0 }, as: UTF8.self)
        }
    #endif
}
