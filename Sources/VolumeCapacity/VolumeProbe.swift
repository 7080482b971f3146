public import FileSystem

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

    #if !canImport(Darwin) || os(tvOS) || os(watchOS)
        /// Foundation does not have these values here.
        private func reportedCapacity(of _: Descriptor) -> ReportedCapacity? { nil }
    #endif
}
