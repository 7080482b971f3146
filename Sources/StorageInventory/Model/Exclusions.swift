internal import StorageAreas

/// The reasons for which backups leave a file out.
package struct Exclusions: OptionSet, Hashable, Sendable {
    package let rawValue: UInt8

    package init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// The no-dump flag of the file or of a folder above.
    package static let noDump = Exclusions(.noDump)
    /// The attribute of freedesktop.org on the file or on a folder above.
    package static let xdgAttribute = Exclusions(.xdgAttribute)
    /// Apple's attribute on the file or on a folder above.
    package static let appleAttribute = Exclusions(.appleAttribute)
    /// The platform never backs up the area.
    package static let area = Exclusions(rawValue: 1 << 6)
    /// A folder above has a `CACHEDIR.TAG`. The tag does not exclude itself.
    package static let cacheTag = Exclusions(rawValue: 1 << 7)

    /// The marks that are set on the file or on a folder above.
    package static let marks: Exclusions = [.noDump, .xdgAttribute, .appleAttribute]

    init(_ marks: BackupMarks) {
        rawValue = marks.rawValue
    }

    /// The names of the members, as in JSON and CSV.
    package var names: [String] {
        let named: [(Exclusions, String)] = [
            (.area, "area"), (.cacheTag, "cacheTag"), (.noDump, "noDump"), (.xdgAttribute, "xdgAttribute"),
            (.appleAttribute, "appleAttribute"),
        ]
        return named.filter { contains($0.0) }.map(\.1)
    }
}
