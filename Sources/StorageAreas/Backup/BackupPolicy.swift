/// Whether backups should contain a file.
///
/// Raw values are stored on disk: a value once used keeps its meaning.
public enum BackupPolicy: UInt8, Sendable, Hashable, CaseIterable {
    /// Backups should contain the file.
    case include = 1
    /// Backups should leave the file out: it can be downloaded again but must persist offline. See
    /// ``BackupMark``.
    case exclude = 2
}
