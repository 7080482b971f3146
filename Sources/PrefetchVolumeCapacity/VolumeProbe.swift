public import PrefetchFileSystem

#if canImport(Darwin) && !os(tvOS) && !os(watchOS)
    internal import Darwin
    internal import Foundation
#endif

/// Measures the size and the free space of a volume.
public protocol VolumeProbing: Sendable {
    /// Returns the state of the volume that holds an open file or folder, as far as the system knows it:
    /// ``VolumeState/evictable`` and ``VolumeState/purgeable`` are 0, for the caller to fill in.
    func state(of file: Descriptor) throws(FileSystemError) -> VolumeState

    /// Returns ``VolumeState/available`` alone, for frequent calls.
    func available(of file: Descriptor) throws(FileSystemError) -> Int64
}

extension VolumeProbing {
    /// Returns the available bytes of ``state(of:)``.
    public func available(of file: Descriptor) throws(FileSystemError) -> Int64 {
        try state(of: file).available
    }
}

/// The probe for every platform: `statvfs`. On macOS, iOS and visionOS it also asks the system how much
/// room there is for important and for opportunistic usage; elsewhere these are unknown, and
/// ``VolumeState/reported`` is `nil`.
///
/// - Note: The part for Apple's platforms has not been run there yet.
public struct VolumeProbe: VolumeProbing {
    let fileSystem: any FileSystem

    /// Creates a probe of the volumes of `fileSystem`.
    public init(fileSystem: any FileSystem) {
        self.fileSystem = fileSystem
    }

    public func state(of file: Descriptor) throws(FileSystemError) -> VolumeState {
        let figures = try fileSystem.volume(of: file)
        return VolumeState(
            total: figures.total, available: figures.available, reported: reportedCapacity(of: file))
    }

    /// Calls `statvfs` only, without asking the system for more.
    public func available(of file: Descriptor) throws(FileSystemError) -> Int64 {
        try fileSystem.volume(of: file).available
    }
}

/// A volume that is always in the same state, for previews, tests and measurements.
public struct FixedVolumeProbe: VolumeProbing {
    private let fixed: VolumeState

    /// Creates a probe that always returns `state`.
    public init(_ state: VolumeState) {
        fixed = state
    }

    public func state(of _: Descriptor) -> VolumeState { fixed }
}

extension VolumeProbe {
    #if !canImport(Darwin) || os(tvOS) || os(watchOS)
        /// Foundation does not have these values here.
        private func reportedCapacity(of _: Descriptor) -> ReportedCapacity? { nil }
    #else
        /// The room that the system reports for the volume of an open file or folder; `nil` when it reports none.
        ///
        /// Only descriptors of the live file system mean anything to the system; others are not asked about.
        /// The path (`fcntl` `F_GETPATH`) is used at once and not kept.
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
                // `statvfs` has answered, so the volume exists; these values are optional.
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
