package import SystemPackage

/// A violation of a rule.
package struct Finding: Hashable, Sendable {
    package let rule: RuleInfo
    /// The path of the file, or of the folder of several, relative to the container or, for an application, to
    /// its area.
    package let path: FilePath
    package let message: String
    /// The number of files concerned.
    package var files = 0
    /// The bytes of these files.
    package var length: Int64 = 0
}
