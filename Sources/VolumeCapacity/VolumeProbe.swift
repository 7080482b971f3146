public import FileSystem

/// Asks a volume for its size and its free space.
public protocol VolumeProbing: Sendable {
    /// The state of the volume that holds an open file or folder, as far as the system knows it: ``VolumeState/evictable`` and
    /// ``VolumeState/purgeable`` are 0, for the caller to fill in.
    func state(of file: Descriptor) throws(FileSystemError) -> VolumeState

    /// ``VolumeState/available`` alone, for whoever asks often.
    func available(of file: Descriptor) throws(FileSystemError) -> Int64
}

extension VolumeProbing {
    public func available(of file: Descriptor) throws(FileSystemError) -> Int64 {
        try state(of: file).available
    }
}

/// The probe for every platform: `statvfs`. On macOS, iOS and visionOS it also asks the system how much
/// room there is for important and for opportunistic usage; elsewhere nobody knows, and
/// ``VolumeState/reported`` is `nil`.
///
/// - Note: The part for Apple's platforms was not run there yet.
public struct VolumeProbe: VolumeProbing {
    let fileSystem: any FileSystem

    public init(fileSystem: any FileSystem) {
        self.fileSystem = fileSystem
    }

    public func state(of file: Descriptor) throws(FileSystemError) -> VolumeState {
        let figures = try fileSystem.volume(of: file)
        return VolumeState(
            total: figures.total, available: figures.available, reported: reportedCapacity(of: file))
    }

    /// Does not ask the system for more than `statvfs` tells.
    public func available(of file: Descriptor) throws(FileSystemError) -> Int64 {
        try fileSystem.volume(of: file).available
    }

    #if !canImport(Darwin) || os(tvOS) || os(watchOS)
        /// Foundation has no such values here.
        private func reportedCapacity(of _: Descriptor) -> ReportedCapacity? { nil }
    #endif
}
