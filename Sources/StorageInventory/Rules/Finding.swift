package import SystemPackage

/// Something that a rule found.
package struct Finding: Hashable, Sendable {
    package let rule: RuleInfo
    /// What was found: a file, or the folder of several. From the container, or from its area where there is none.
    package let path: FilePath
    package let message: String
    /// How many files it is about, and their bytes.
    package var files = 0
    package var length: Int64 = 0
}
