internal import PrefetchStorageAreas

/// The severity of a finding.
public enum Severity: String, Sendable, Hashable, CaseIterable {
    /// Data may be lost, or is in backups though it must not be.
    case error
    /// A rule is violated, but no data is in danger.
    case warning
    /// Harmless, but worth knowing.
    case note
}

/// The description of a rule.
public struct RuleInfo: Sendable, Hashable {
    /// Stable, since scripts depend on it.
    public let name: String
    /// The severity of its findings.
    public let severity: Severity
    /// The statements of the guidelines that the rule carries out; empty for a contract of this package.
    package let statements: [Statement]
    /// What is wrong.
    public let explanation: String
    /// What to do about it.
    public let fix: String
    /// What `--fix-script` does, as far as a program can tell what is right.
    let remedy: Remedy?

    /// The titles of what the rule is based on.
    public var guideline: String {
        var titles: [String] = []
        for source in statements.map(\.source) where !titles.contains(source) { titles.append(source) }
        return titles.isEmpty ? "Contracts of this package" : titles.joined(separator: ", ")
    }
}

/// A rule that an inventory is checked against.
struct StorageRule: Sendable {
    let info: RuleInfo
    let check: @Sendable (inout Checkup) -> Void

    init(
        _ name: String, _ severity: Severity, _ statements: [Statement],
        _ check: @escaping @Sendable (inout Checkup) -> Void, _ explanation: String, fix: String,
        by remedy: Remedy? = nil
    ) {
        info = RuleInfo(
            name: name, severity: severity, statements: statements, explanation: explanation, fix: fix,
            remedy: remedy)
        self.check = check
    }
}

/// The rules, in the order in which they are applied. A file is reported by only one rule: the first that finds it.
package enum StorageRules {
    static let all: [StorageRule] = [
        StorageRule(
            "old-format", .note, [.t33, .t34], { $0.findOldFormats() },
            "Stored data has the format of an older version of this package.",
            fix: "Open the cache once: the catalog is rebuilt."),
        StorageRule(
            "missing-cache-tag", .warning, [.t25], { $0.findMissingTags() },
            "The cache is not in a folder with a CACHEDIR.TAG, so backup programs include it.",
            fix: "Delete a CACHEDIR.TAG that is invalid. Open the cache once: it creates the tag.", by: .tag),
        StorageRule(
            "wrong-permissions", .error, [], { $0.findWrongPermissions() },
            "A root of the cache belongs to another user, or others may write to it: it is not opened.",
            fix: "`chown` it to the owner of the folder around it, and `chmod 700` it.", by: .restrict),
        StorageRule(
            "ledger-entry-without-file", .note, [], { $0.findEntriesWithoutFiles() },
            "The ledger has an entry whose file was moved or deleted.",
            fix: "Put the file back, or `cachectl forget` its key."),
        StorageRule(
            "exclusion-mark-lost", .warning, [.t8], { $0.findLostMarks() },
            "A file that should be excluded from backups has lost its mark.",
            fix:
                "`cachectl repair` restores the mark; some ways of saving a file, or of copying a container, lose it.",
            by: .exclude),
        StorageRule(
            "abandoned", .warning, [.t6], { $0.findAbandonedFiles() },
            "A file in a folder of the cache is not one of its files, or is left over from abandoned work.",
            fix:
                "Move the file to where it belongs, or delete it; opening the cache removes its own leftovers.",
            by: .discard),
        // What the app's developers say outweighs what a file looks like.
        StorageRule(
            "misplaced", .error, [.t7, .t42, .t43], { $0.findMisplacedFiles() },
            "A file is in another area than its entry in the manifest says (`--manifest`).",
            fix:
                "Move it, change the entry's `path` and the code that writes it; or correct the entry's `area`."
        ),
        StorageRule(
            "backup-contradicts-manifest", .error, [.t8, .g0b, .g4c], { $0.findContradictedBackups() },
            "Backups contain a file and must not, or lack one that they must contain, by the manifest.",
            fix: "Mark it as excluded, or remove the mark; or correct the entry's `backup`."),
        StorageRule(
            "past-its-time", .warning, [.t6, .g4e, .b7], { $0.findFilesPastTheirTime() },
            "A file has not been used for longer than its entry in the manifest allows (`unusedFor`).",
            fix: "Delete it, and let the app do so in future.", by: .discard),
        StorageRule(
            "unexplained", .warning, [.t1, .t5, .t6], { $0.findUnexplainedFiles() },
            "No entry of the manifest explains a file (`--manifest`).",
            fix: "Add an entry that says what it is and why it is stored; or delete it."),
        StorageRule(
            "over-limit", .warning, [.t1, .g0b, .g4e], { $0.findEntriesOverLimit() },
            "The files of an entry in the manifest take more than its `limit` together.",
            fix: "Let the app delete what it can do without; or raise the entry's `limit`."),
        StorageRule(
            "purpose-to-do", .note, [.t5], { $0.findUnwrittenPurposes() },
            "An entry of the manifest still says TODO.",
            fix: "Write what the files are, and why they are stored."),
        StorageRule(
            "forgotten", .warning, [.t6, .t43], { $0.findForgottenFiles() },
            "Nothing explains it, and it was not used in the 180 days before the app's last use.",
            fix:
                "Find out what wrote it. If nothing needs it, let the app delete it, here and elsewhere.",
            by: .discard),
        StorageRule(
            "cached-data-backed-up", .error, [.t24, .g2, .b4], { $0.findCachedDataInBackups() },
            "Files that can be downloaded again are in a place that is backed up, and not marked as excluded.",
            fix: "Move it to Caches, or mark it: `isExcludedFromBackup`.", by: .exclude),
        StorageRule(
            "thumbnails-outside-caches", .warning, [.b2, .b3, .b4], { $0.findThumbnails() },
            "Thumbnails, which can be made again from the images, are in a place that is backed up.",
            fix: "Move them to Caches.", by: .move(.caches)),
        StorageRule(
            "user-data-purgeable", .error, [.t24, .b5, .b8],
            { $0.reportIrreplaceable(among: $0.files { $0.kind == .foreign && $0.isPurgeable }) },
            "A file that looks like the user's work is where the system may delete it.",
            fix: "Move it to Documents, or to Application Support.", by: .move(.documents)),
        StorageRule(
            "left-in-tmp", .warning, [.t28, .t29, .g3, .b7], { $0.findLeftovers() },
            "A temporary file was not deleted after use.",
            fix: "Delete it as soon as it is no longer needed.", by: .discard),
        StorageRule(
            "database-in-caches", .note, [.t24, .g2, .b5], { $0.findDatabasesInCaches() },
            "A database is where the system may delete it, which is right only if it can be made again.",
            fix: "Make sure that the app makes it again. If it cannot, move it to Application Support."),
        StorageRule(
            "no-document", .warning, [.t10, .t13, .t18, .t19, .g1], { $0.findNonDocuments() },
            "A database, its side file, a hidden file or an unfinished download is in Documents.",
            fix: "Move it to Application Support, or to Caches.", by: .move(.applicationSupport)),
        StorageRule(
            "log-among-documents", .warning, [.t10, .t13, .t18],
            { $0.reportDocuments("it is a log") { type, _ in type == .log } },
            "A log is among the documents that the user sees.",
            fix: "Move it to Caches, or to Application Support.", by: .move(.caches)),
        StorageRule(
            "settings-among-documents", .warning, [.t13, .t18, .t31],
            {
                $0.reportDocuments("it holds settings or state, by its name") { type, _ in type == .settings }
            },
            "A file with settings or the app's state is among the documents that the user sees.",
            fix: "Move it to Application Support.", by: .move(.applicationSupport)),
        StorageRule(
            "machine-name-among-documents", .warning, [.t10, .t18],
            { $0.reportDocuments("the user cannot tell from its name what it is") { $1.isMachineMade } },
            "A file among the documents that the user sees has a name that only a program understands.",
            fix:
                "Give it the name that the user knows, or move it to Application Support.",
            by: .move(.applicationSupport)),
        StorageRule(
            "user-data-excluded", .error, [.t8, .g4b, .b10], { $0.findExcludedUserData() },
            "A file that cannot be downloaded again, or that should be backed up, is excluded from backups.",
            fix: "Remove the mark: only files that can be downloaded again may carry it.", by: .include),
        StorageRule(
            "excluded-unused", .warning, [.g4e], { $0.findUnusedExclusions() },
            "An excluded file has not been used for long (`--unused-for`), and the system does not purge it.",
            fix:
                "The app has to delete it: `cachectl purge --excluded`, or `--fix-script` with `--unused-for`.",
            by: .discard),
        StorageRule(
            "excluded-one-by-one", .note, [.b13], { $0.findSingleMarks() },
            "Files of one folder are excluded from backups one by one.",
            fix:
                "Put them into a folder of their own, and mark that: a file that is saved anew loses its mark.",
            by: .exclude),
        StorageRule(
            "excluded-folder-name", .warning, [.b14], { $0.findExcludedFolderNames() },
            "A folder in Library that is excluded from backups is not named by the app's bundle identifier.",
            fix:
                "Rename it to the bundle identifier, such as `org.example.app`, or move it into such a folder."
        ),
        StorageRule(
            "absolute-path", .error, [.b6], { $0.findAbsolutePaths() },
            "Stored data contains an absolute path: the path of a container changes with every update.",
            fix: "Store the area and the path below it."),
        StorageRule(
            "large-download-backed-up", .warning, [.t8, .g0b, .b1, .b9], { $0.findLargeDownloads() },
            "A large file (16 MiB or more) that can be downloaded again is backed up.",
            fix:
                "Mark it: `isExcludedFromBackup`, or as an item the policy `exclude`. Or keep it in Caches.",
            by: .exclude),
        StorageRule(
            "same-content-twice", .warning, [.t35], { $0.findSameContent() },
            "The same content is in two places.",
            fix: "Keep it in one place; for another name a hard link will do."),
        StorageRule(
            "diverged-copies", .warning, [.t35], { $0.findDivergedCopies() },
            "Files of one name, but with different content, are in several places for the user's documents.",
            fix: "Let the user choose one, and keep it in one place."),
        StorageRule(
            "document-in-support", .warning, [.t7, .t31], { $0.findDocumentsInSupport() },
            "A document of the user's is in Application Support, where the user does not see it.",
            fix: "Move it to Documents, or to iCloud Drive.", by: .move(.documents)),
        StorageRule(
            "empty-folder", .note, [.t10, .t13], { $0.findEmptyFolders() },
            "A folder that the user sees is empty.",
            fix: "Delete it. Create a folder when its first document is stored.", by: .removeFolder),
        StorageRule(
            "documents-not-in-cloud", .note, [.t9, .t36], { $0.findDocumentsNotInCloud() },
            "Documents of the user's are on this device only, though the app has iCloud Drive.",
            fix:
                "Offer to keep them in iCloud Drive, unless there is a reason to have them on one device only."
        ),
        StorageRule(
            "file-sharing", .warning, [.t14, .t15], { $0.findUnreachableDocuments() },
            "`Info.plist` does not fit the contents of Documents (`--plist`).",
            fix:
                "Set UIFileSharingEnabled and LSSupportsOpeningDocumentsInPlace both, or keep no documents there."
        ),
    ]

    package static let infos: [RuleInfo] = all.map(\.info)
}
