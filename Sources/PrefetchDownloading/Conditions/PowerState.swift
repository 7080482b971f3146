/// Whether the device asks its programs for restraint.
struct PowerState: Sendable {
    /// Whether downloads that nobody waits for are to pause now.
    var isStrained: @Sendable () -> Bool
    /// Changes of that from now on. A change may be reported that is none.
    var changes: @Sendable () -> AsyncStream<Void>

    /// A device that never does.
    static let unlimited = PowerState(isStrained: { false }, changes: { AsyncStream { $0.finish() } })
}
