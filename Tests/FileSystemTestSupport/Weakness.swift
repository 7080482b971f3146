/// A promise of the file system that a test takes away, to see that it is missed.
package enum Weakness: String, Sendable, CaseIterable {
    /// Making durable does nothing.
    case noSynchronize = "no-synchronize"
    /// A rename that must not replace an existing file replaces it.
    case replacingRename = "replacing-rename"
    /// A symbolic link is followed wherever it is met.
    case followingLinks = "following-links"
    /// Holes are not reported.
    case hiddenHoles = "hidden-holes"
    /// A renamed file has no marks.
    case forgetfulRename = "forgetful-rename"
    /// A lock excludes nobody.
    case looseLocks = "loose-locks"
}
