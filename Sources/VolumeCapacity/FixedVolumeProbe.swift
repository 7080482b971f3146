public import FileSystem

/// A volume that is always in the same state, for previews, tests and measurements.
public struct FixedVolumeProbe: VolumeProbing {
    private let fixed: VolumeState

    /// Creates a probe that always returns `state`.
    public init(_ state: VolumeState) {
        fixed = state
    }

    public func state(of _: Descriptor) -> VolumeState { fixed }
}
