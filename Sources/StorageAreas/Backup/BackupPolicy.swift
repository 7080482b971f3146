/// Whether backups shall contain a file.
///
/// Raw values are stored on disk: a value that was ever used keeps its meaning.
public enum BackupPolicy: UInt8, Sendable, Hashable, CaseIterable {
    case include = 1
    /// For what can be downloaded again but must persist offline; see ``BackupMark``.
    case exclude = 2
}
