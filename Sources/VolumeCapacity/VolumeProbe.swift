public import FileSystem

/// Asks a volume for its size and its free space.
public protocol VolumeProbing: Sendable {
    /// The figures of the volume that holds an open file or folder.
    func figures(of file: Descriptor) throws(FileSystemError) -> VolumeFigures
}

/// The probe for every platform: `statvfs`.
public struct VolumeProbe: VolumeProbing {
    private let fileSystem: any FileSystem

    public init(fileSystem: any FileSystem) {
        self.fileSystem = fileSystem
    }

    public func figures(of file: Descriptor) throws(FileSystemError) -> VolumeFigures {
        try fileSystem.volume(of: file)
    }
}
