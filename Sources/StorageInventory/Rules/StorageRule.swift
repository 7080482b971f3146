/// How much a finding matters.
package enum Severity: String, Sendable, Hashable, CaseIterable {
    /// Data may be lost, or is in a backup where it must not be.
    case error
    case warning
    /// Harmless, and worth knowing.
    case note
}

/// One rule that an inventory is checked against.
///
/// A file is reported by one rule only: the first, in the order of ``StorageRules/all``.
protocol StorageRule: Sendable {
    var info: RuleInfo { get }
    func check(_ checkup: inout Checkup)
}

/// The description of a rule.
package struct RuleInfo: Sendable, Hashable {
    /// Never changes: scripts depend on it.
    package let name: String
    package let severity: Severity
    /// What is wrong.
    package let explanation: String
    /// The guideline that says so.
    package let guideline: String
    package let fix: String
}

/// All rules.
package enum StorageRules {
    static let all: [any StorageRule] = [
        OldFormat(), MissingCacheTag(), WrongPermissions(), EntryWithoutFile(), LostExclusionMark(),
        Abandoned(), CachedDataBackedUp(), PurgeableUserData(), LeftInTemporary(), NoDocument(),
        ExcludedUserData(), ExcludedUnused(), StoredAbsolutePath(), SameContentTwice(), FileSharing(),
    ]

    package static var infos: [RuleInfo] { all.map(\.info) }

    /// The rules as a Markdown table: a header, a rule and one line each, ended by a newline. The
    /// documentation quotes it.
    package static func markdownTable() -> String {
        let header = ["Rule", "Severity", "What is wrong", "Guideline", "Fix"]
        let rows = infos.map {
            ["`\($0.name)`", $0.severity.rawValue, $0.explanation, $0.guideline, $0.fix]
        }
        return ([header, header.map { _ in "---" }] + rows)
            .map { "| \($0.joined(separator: " | ")) |\n" }
            .joined()
    }
}

/// The guidelines that rules come from.
enum Guideline {
    static let storage = "iOS Data Storage Guidelines"
    static let fileSystem = "File System Programming Guide"
    static let optimizing = "Optimizing Your App’s Data for iCloud Backup"
    static let cacheTag = "Cache Directory Tagging Specification"
    static let fileSharing = "Information Property List: UIFileSharingEnabled"
    static let package = "Contracts of this package"
}
