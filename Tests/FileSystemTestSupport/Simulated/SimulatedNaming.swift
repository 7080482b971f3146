internal import SystemPackage

/// What names a simulated file system accepts, and which it takes for the same. File systems differ in both:
/// eCryptfs takes 143 bytes, FAT no colon, and APFS does not distinguish case.
package struct SimulatedNaming: Sendable {
    /// The longest name, in bytes of UTF-8; a longer one is `ENAMETOOLONG`, even to look for.
    package var longest = 255
    /// A new name with one of these is `EINVAL`.
    package var refused: Set<Unicode.Scalar> = []
    /// Whether a new name that is not ASCII is `EILSEQ`.
    package var isASCIIOnly = false
    /// Whether names that differ only in case or normalisation are one name, kept as it was first written.
    package var isFolding = false

    /// Takes every name of at most 255 bytes, and distinguishes all.
    package init() {}

    /// The characters that FAT and exFAT refuse.
    package static let refusedByFAT: Set<Unicode.Scalar> = ["\"", "*", ":", "<", ">", "?", "\\", "|"]

    /// Why a new name is refused.
    func refusal(of name: String) -> Errno? {
        if name.unicodeScalars.contains(where: refused.contains) { return .invalidArgument }
        return isASCIIOnly && !name.utf8.allSatisfy { $0 < 0x80 } ? .illegalByteSequence : nil
    }

    /// The name of an entry that `name` leads to.
    func entry(_ name: String, in entries: [String: SimulatedDisk.NodeID]) -> String {
        guard isFolding, entries[name] == nil else { return name }
        let folded = name.lowercased()
        return entries.keys.first { $0.lowercased() == folded } ?? name
    }
}
