internal import StorageAreas

/// By what a file is kept out of backups.
package struct Exclusions: OptionSet, Hashable, Sendable {
    package let rawValue: UInt8

    package init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// The flag of the inode or of a folder above.
    package static let noDump = Exclusions(.noDump)
    /// The attribute of freedesktop.org, on the file or on a folder above.
    package static let xdgAttribute = Exclusions(.xdgAttribute)
    /// Apple's attribute, on the file or on a folder above.
    package static let appleAttribute = Exclusions(.appleAttribute)
    /// The platform never backs the area up.
    package static let area = Exclusions(rawValue: 1 << 6)
    /// A folder above has a `CACHEDIR.TAG`. The tag itself is not left out by it.
    package static let cacheTag = Exclusions(rawValue: 1 << 7)

    /// A mark that somebody put on the file or on a folder above.
    package static let marks: Exclusions = [.noDump, .xdgAttribute, .appleAttribute]

    init(_ marks: BackupMarks) {
        rawValue = marks.rawValue
    }

    /// The names of what is in the set, as JSON and CSV have them.
    package var names: [String] {
        let named: [(Exclusions, String)] = [
            (.area, "area"), (.cacheTag, "cacheTag"), (.noDump, "noDump"), (.xdgAttribute, "xdgAttribute"),
            (.appleAttribute, "appleAttribute"),
        ]
        return named.filter { contains($0.0) }.map(\.1)
    }
}
