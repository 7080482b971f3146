/// When the files of a cache can be read: the data protection of iOS and its relatives. Elsewhere it has no effect.
///
/// A new file has the protection of its folder. What it was created with stays.
public enum FileProtection: String, CaseIterable, Sendable {
    /// Encrypted, and readable only while the device is unlocked. Downloads in the background fail.
    case complete
    /// As ``complete``, but a file that is open stays usable when the device is locked.
    case completeUnlessOpen
    /// Encrypted, and readable from the first unlocking after a restart. What the system uses by default.
    case completeUntilFirstUserAuthentication
    /// Encrypted by a key that the device always has.
    case none
}
