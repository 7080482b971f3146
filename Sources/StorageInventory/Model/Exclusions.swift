internal import StorageAreas

/// By what a file is kept out of backups.
package struct Exclusions: OptionSet, Hashable, Sendable {
    package let rawValue: UInt8

    package init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// The platform never backs the area up.
    package static let area = Exclusions(rawValue: 1)
    /// A folder above has a `CACHEDIR.TAG`. The tag itself is not left out by it.
    package static let cacheTag = Exclusions(rawValue: 2)
    /// The flag of the inode or of a folder above.
    package static let noDump = Exclusions(rawValue: 4)
    /// The attribute of freedesktop.org, on the file or on a folder above.
    package static let xdgAttribute = Exclusions(rawValue: 8)
    /// Apple's attribute, on the file or on a folder above.
    package static let appleAttribute = Exclusions(rawValue: 16)

    /// A mark that somebody put on the file or on a folder above.
    package static let marks: Exclusions = [.noDump, .xdgAttribute, .appleAttribute]

    init(_ marks: BackupMarks) {
        self = []
        if marks.contains(.noDump) { insert(.noDump) }
        if marks.contains(.xdgAttribute) { insert(.xdgAttribute) }
        if marks.contains(.appleAttribute) { insert(.appleAttribute) }
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
